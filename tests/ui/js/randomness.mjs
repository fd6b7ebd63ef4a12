/**
 * Returns a generator of numbers in [0, 1) from a seed (xorshift).
 * @param {number} seed
 */
export function randomness(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
