/** The best value so far, as plots/steps.py: of trials that break no constraint, in their order. */

/**
 * @param {ArrayLike<number>} values
 * @param {string} mode  "min" or "max".
 * @param {ArrayLike<number> | undefined} allowed
 * @returns {{x: number[], y: number[], row: number}} Where it changes; the last x repeats the last y; `row` is
 *   the best trial, or -1.
 */
export function bestSoFar(values, mode, allowed) {
  const sign = mode === "max" ? -1 : 1;
  /** @type {number[]} */
  const x = [];
  /** @type {number[]} */
  const y = [];
  let best = Infinity;
  let row = -1;
  for (let i = 0; i < values.length; i++) {
    const loss = sign * values[i];
    if (!(loss < best) || loss - loss !== 0 || (allowed && !allowed[i])) continue;
    best = loss;
    row = i;
    x.push(i);
    y.push(values[i]);
  }
  if (row >= 0) {
    x.push(values.length - 1);
    y.push(values[row]);
  }
  return { x, y, row };
}
