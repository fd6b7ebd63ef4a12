/** Which rows of a long list are in view, and how the list stays where it is while it changes. */

/** Rows that are drawn above and below those in view. */
const SPARE_ROWS = 8;

/**
 * @param {{top: number, height: number}} view scroll position and height, in pixels
 * @param {number} rowHeight
 * @param {number} count
 * @returns {{first: number, last: number}} positions to draw; `last` is not drawn
 */
export function drawnRange({ top, height }, rowHeight, count) {
  const first = Math.max(0, Math.min(Math.floor(top / rowHeight) - SPARE_ROWS, count));
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + SPARE_ROWS);
  return { first, last: Math.max(first, last) };
}

/**
 * Returns the scroll position at which the row that was on top is on top again.
 * @param {Uint32Array} before rows in their order
 * @param {Uint32Array} after
 * @param {number} top scroll position
 * @param {number} rowHeight
 */
export function anchoredTop(before, after, top, rowHeight) {
  if (top < rowHeight) return top; // the first rows are looked at, whichever they are
  const at = Math.floor(top / rowHeight);
  const position = after.indexOf(before[at]);
  return position < 0 ? Math.min(top, Math.max(0, (after.length - 1) * rowHeight)) : position * rowHeight + (top % rowHeight);
}

/**
 * Returns the scroll position nearest to `top` at which a row is wholly in view.
 * @param {number} position
 * @param {{top: number, height: number}} view
 * @param {number} rowHeight
 */
export function revealingTop(position, { top, height }, rowHeight) {
  const start = position * rowHeight;
  if (start < top) return start;
  return start + rowHeight > top + height ? start + rowHeight - height : top;
}

/**
 * Returns the position that a key moves to; null if the key does not move.
 * @param {string} key
 * @param {boolean} hasControl whether Control or Command is held
 * @param {number} position
 * @param {number} count
 * @param {number} page rows in view
 */
export function movedPosition(key, hasControl, position, count, page) {
  const last = count - 1;
  const at = Math.max(0, Math.min(position, last));
  switch (key) {
    case "ArrowDown":
      return hasControl ? last : Math.min(at + 1, last);
    case "ArrowUp":
      return hasControl ? 0 : Math.max(at - 1, 0);
    case "PageDown":
      return Math.min(at + page, last);
    case "PageUp":
      return Math.max(at - page, 0);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}
