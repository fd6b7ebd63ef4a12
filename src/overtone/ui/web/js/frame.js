/** Work that draws, at most once per animation frame. */

/** @type {Set<() => void>} */
const waiting = new Set();
let isAsked = false;

/**
 * Run `draw` in the next animation frame; twice the same function is one run.
 *
 * @param {() => void} draw
 * @returns {() => void} Cancels it.
 */
export function onFrame(draw) {
  waiting.add(draw);
  if (!isAsked) {
    isAsked = true;
    const later = typeof requestAnimationFrame === "function" ? requestAnimationFrame : setTimeout;
    later(run);
  }
  return () => waiting.delete(draw);
}

function run() {
  isAsked = false;
  const draws = [...waiting];
  waiting.clear();
  for (const draw of draws) {
    try {
      draw();
    } catch (error) {
      reportError(error); // the other draws of this frame are not to blame
    }
  }
}
