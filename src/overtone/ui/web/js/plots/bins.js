/** Trials as bundles between neighbouring axes: at most 64 x 64 = 4,096 lines, however many trials. */

import { sortedRows } from "../tables/sort.js";

export const N_BINS = 64;
const MISSING = 0; // the lowest bin is that of missing values

/**
 * The bin of each height on an axis (0 to 1; NaN is missing).
 * @param {Float32Array} heights
 */
export function binsOf(heights) {
  const out = new Uint8Array(heights.length);
  const most = N_BINS - 2;
  for (let i = 0; i < heights.length; i++) {
    const height = heights[i];
    out[i] = height - height !== 0 ? MISSING : 1 + Math.max(0, Math.min(most, Math.floor(height * (most + 1))));
  }
  return out;
}

/**
 * The middle of a bin as a height; NaN for that of missing values.
 * @param {number} bin
 */
export function binHeight(bin) {
  return bin === MISSING ? NaN : (bin - 0.5) / (N_BINS - 1);
}

/**
 * @typedef {object} Bundles
 * @property {Uint8Array} left   The bin on the left axis.
 * @property {Uint8Array} right
 * @property {Float32Array} weights  The number of trials.
 * @property {Float32Array} shades   Their mean shade; NaN if none has one.
 */

/**
 * The trials between two axes, of those in `mask` (all if null).
 * @param {Uint8Array} left
 * @param {Uint8Array} right
 * @param {Float32Array} shades
 * @param {Uint8Array | null} mask
 * @returns {Bundles}
 */
export function bundlesOf(left, right, shades, mask) {
  const counts = new Float32Array(N_BINS * N_BINS);
  const known = new Float32Array(counts.length);
  const sums = new Float32Array(counts.length);
  let n = 0;
  for (let i = 0; i < left.length; i++) {
    if (mask && !mask[i]) continue;
    const bundle = left[i] * N_BINS + right[i];
    if (!counts[bundle]++) n++;
    if (shades[i] >= 0) {
      known[bundle]++;
      sums[bundle] += shades[i];
    }
  }
  const found = {
    left: new Uint8Array(n),
    right: new Uint8Array(n),
    weights: new Float32Array(n),
    shades: new Float32Array(n),
  };
  for (let bundle = 0, i = 0; i < n; bundle++) {
    if (!counts[bundle]) continue;
    found.left[i] = Math.floor(bundle / N_BINS);
    found.right[i] = bundle % N_BINS;
    found.weights[i] = counts[bundle];
    found.shades[i++] = known[bundle] ? sums[bundle] / known[bundle] : NaN;
  }
  return found;
}

/**
 * Rows with a finite value, the best first, and the rank of each row as a share: 1 for the best, 0 for the
 * worst, NaN without a value; equal values have the same.
 * @param {import("../data/message.js").TypedArray} values
 * @param {boolean} isMin Whether the least value is the best.
 * @returns {{ranked: Uint32Array, shades: Float32Array}}
 */
export function ranksOf(values, isMin) {
  const ranked = rowsByValue(values, !isMin);
  const shades = new Float32Array(values.length).fill(NaN);
  const last = Math.max(1, ranked.length - 1);
  let first = 0;
  for (let i = 0; i < ranked.length; i++) {
    if (values[ranked[i]] !== values[ranked[first]]) first = i;
    shades[ranked[i]] = 1 - first / last;
  }
  return { ranked, shades };
}

/**
 * Rows with a finite value by that value; equal ones in their order.
 * @param {import("../data/message.js").TypedArray} values
 * @param {boolean} isDescending
 */
export function rowsByValue(values, isDescending) {
  const mask = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) mask[i] = values[i] - values[i] === 0 ? 1 : 0;
  const column = /** @type {any} */ ({ key: "", name: "", group: "fact", values, levels: null });
  return sortedRows(column, isDescending, mask, values.length);
}
