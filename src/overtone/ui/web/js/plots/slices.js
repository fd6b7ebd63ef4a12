/** Long work in slices, so that the page answers in between. */

const SLICE_MS = 12;

/**
 * Runs a generator to its end.
 * @template T
 * @param {Generator<void, T>} steps
 * @param {(result: T) => void} done
 * @returns {() => void} Ends it before.
 */
export function inSlices(steps, done) {
  let isOver = false;
  const go = () => {
    const end = performance.now() + SLICE_MS;
    while (!isOver) {
      const step = steps.next();
      if (step.done) return done(step.value);
      if (performance.now() > end) return void setTimeout(go);
    }
  };
  go();
  return () => void (isOver = true);
}
