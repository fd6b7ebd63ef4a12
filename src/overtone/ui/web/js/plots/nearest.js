/** The mark under the pointer, found in a grid of cells instead of among all marks. */

const CELL = 16; // pixels

/**
 * @typedef {object} Nearest
 * @property {Float32Array} x
 * @property {Float32Array} y
 * @property {number} columns
 * @property {number} rows
 * @property {Int32Array} starts  Where each cell's points begin in `order`.
 * @property {Int32Array} order   Points by cell.
 */

/**
 * Sorts points (pixels; NaN for none) into cells.
 * @param {Float32Array} x
 * @param {Float32Array} y
 * @param {number} width
 * @param {number} height
 * @returns {Nearest}
 */
export function nearestIndex(x, y, width, height) {
  const columns = Math.max(1, Math.ceil(width / CELL));
  const rows = Math.max(1, Math.ceil(height / CELL));
  const starts = new Int32Array(columns * rows + 1);
  const cells = new Int32Array(x.length).fill(-1);
  for (let i = 0; i < x.length; i++) {
    if (!(x[i] >= 0 && x[i] <= width && y[i] >= 0 && y[i] <= height)) continue;
    const column = Math.min(columns - 1, Math.floor(x[i] / CELL));
    cells[i] = Math.min(rows - 1, Math.floor(y[i] / CELL)) * columns + column;
    starts[cells[i] + 1]++;
  }
  for (let i = 0; i < columns * rows; i++) starts[i + 1] += starts[i];
  const next = starts.slice();
  const order = new Int32Array(starts[columns * rows]);
  for (let i = 0; i < x.length; i++) if (cells[i] >= 0) order[next[cells[i]]++] = i;
  return { x, y, columns, rows, starts, order };
}

/**
 * The point that is nearest to a place, at most `reach` pixels away; -1 if there is none. Of points at the
 * same distance the last one, which is drawn on top.
 * @param {Nearest} index
 * @param {number} px
 * @param {number} py
 * @param {number} reach
 */
export function nearestPoint({ x, y, columns, rows, starts, order }, px, py, reach) {
  let best = -1;
  let least = reach * reach;
  const clamp = (/** @type {number} */ place, /** @type {number} */ n) =>
    Math.max(0, Math.min(n - 1, Math.floor(place / CELL)));
  for (let row = clamp(py - reach, rows); row <= clamp(py + reach, rows); row++) {
    const begin = starts[row * columns + clamp(px - reach, columns)];
    const end = starts[row * columns + clamp(px + reach, columns) + 1];
    for (let place = begin; place < end; place++) {
      const i = order[place];
      const distance = (x[i] - px) ** 2 + (y[i] - py) ** 2;
      if (distance <= least && (distance < least || i > best)) {
        least = distance;
        best = i;
      }
    }
  }
  return best;
}

/**
 * The next point in the direction of an arrow key: the nearest one in a cone of 45 degrees on each side;
 * -1 if there is none.
 * @param {Float32Array} x
 * @param {Float32Array} y
 * @param {number} from
 * @param {string} key
 * @param {(i: number) => boolean} isShown
 */
export function neighbour(x, y, from, key, isShown) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
  let best = -1;
  let least = Infinity;
  for (let i = 0; i < x.length; i++) {
    if (i === from || !isShown(i)) continue;
    const along = (x[i] - x[from]) * dx + (y[i] - y[from]) * dy;
    const across = Math.abs((x[i] - x[from]) * dy) + Math.abs((y[i] - y[from]) * dx);
    if (!(along > 0) || across > along) continue;
    const distance = along + 2 * across;
    if (distance < least) {
      least = distance;
      best = i;
    }
  }
  return best;
}
