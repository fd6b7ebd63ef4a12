/** The axes of parallel coordinates: heights of all trials, ticks, and back from heights to values. */

import { shortened, shortNumber } from "./labels.js";
import { extent, spansDecades } from "./scales.js";

/**
 * @typedef {import("../data/table.js").Column} Column
 * @typedef {object} ParallelAxis
 * @property {string} key
 * @property {string} name
 * @property {Float32Array} heights  0 to 1; NaN where the trial has no such value.
 * @property {boolean} hasMissing
 * @property {{at: number, label: string}[]} ticks
 * @property {any[] | null} levels   Of categories, from the lowest; the others' place is the last.
 * @property {(height: number) => number} valueAt
 */

const MOST_CATEGORIES = 50;

/**
 * @param {Column} column
 * @param {number} length   The number of trials.
 * @param {string} othersName
 * @returns {ParallelAxis}
 */
export function parallelAxis(column, length, othersName) {
  const { key, name } = column;
  const found = column.levels ? categories(column, length, othersName) : numbers(column, length);
  let hasMissing = false;
  for (let i = 0; i < length && !hasMissing; i++) hasMissing = found.heights[i] !== found.heights[i];
  return { key, name, hasMissing, ...found };
}

/**
 * @param {Column} column
 * @param {number} length
 */
function numbers(column, length) {
  const { values } = column;
  const limits = extent([values], false);
  const isLog = !!limits && limits[0] > 0 && (column.isLog || (column.group === "metric" && spansDecades(limits)));
  const scaled = (/** @type {number} */ value) => (isLog ? Math.log10(value) : value);
  const [low, high] = limits ? [scaled(limits[0]), scaled(limits[1])] : [0, 1];
  const span = high / 2 - low / 2; // halves: the difference of two large numbers may be infinite
  const heights = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (value - value !== 0) heights[i] = NaN;
    else heights[i] = span > 0 ? (scaled(value) / 2 - low / 2) / span : 0.5;
  }
  const valueAt = (/** @type {number} */ height) => {
    if (height <= 0 && limits) return limits[0];
    if (height >= 1 && limits) return limits[1];
    const value = low * (1 - height) + high * height;
    return isLog ? 10 ** value : value;
  };
  const places = span > 0 ? [0, 0.25, 0.5, 0.75, 1] : limits ? [0.5] : [];
  const ticks = places.map((at) => ({ at, label: tickLabel(span > 0 ? valueAt(at) : /** @type {any} */ (limits)[0], column.isInteger) }));
  const isTold = (/** @type {{label: string}} */ tick, /** @type {number} */ i) => !i || tick.label !== ticks[i - 1].label;
  return { heights, ticks: ticks.filter(isTold), levels: null, valueAt };
}

/**
 * @param {number} value
 * @param {boolean} isInteger
 */
function tickLabel(value, isInteger) {
  return shortNumber(isInteger && Math.abs(value) < 1e15 ? Math.round(value) : Number(value.toPrecision(3)));
}

/**
 * @param {Column} column
 * @param {number} length
 * @param {string} othersName
 */
function categories(column, length, othersName) {
  const all = /** @type {any[]} */ (column.levels);
  const counts = new Int32Array(all.length);
  for (let i = 0; i < length; i++) if (column.values[i] >= 0) counts[column.values[i]]++;
  let kept = [...counts.keys()].filter((code) => counts[code]);
  const n = kept.length;
  if (kept.every((code) => typeof all[code] === "number")) kept.sort((a, b) => all[a] - all[b]);
  if (n > MOST_CATEGORIES) {
    const frequent = new Set([...kept].sort((a, b) => counts[b] - counts[a]).slice(0, MOST_CATEGORIES - 1));
    kept = kept.filter((code) => frequent.has(code));
  }
  const places = kept.length + (n > kept.length ? 1 : 0);
  const height = (/** @type {number} */ place) => (places > 1 ? place / (places - 1) : 0.5);
  const byCode = new Float32Array(all.length).fill(height(kept.length)); // the place of all others
  kept.forEach((code, place) => (byCode[code] = height(place)));
  const heights = new Float32Array(length);
  for (let i = 0; i < length; i++) heights[i] = column.values[i] >= 0 ? byCode[column.values[i]] : NaN;
  const levels = kept.map((code) => all[code]);
  const labels = levels.map((level) => shortened(typeof level === "string" ? level : JSON.stringify(level), 24));
  if (places > kept.length) labels.push(`${(n - kept.length).toLocaleString("en-US")} ${othersName}`);
  return {
    heights, levels,
    ticks: labels.map((label, place) => ({ at: height(place), label })),
    valueAt: (/** @type {number} */ at) => at * Math.max(1, places - 1),
  };
}

/**
 * The part of a brush on an axis as a range of a filter.
 * @param {ParallelAxis} axis
 * @param {[number, number]} brush  Heights; below 0 begins the place of missing values.
 * @returns {import("./brush_text.js").Range}
 */
export function rangeOf(axis, [low, high]) {
  const hasMissing = axis.hasMissing && low < -0.02;
  if (high < 0) return { key: axis.key, levels: axis.levels ? [] : undefined, hasMissing };
  if (axis.levels) {
    const last = Math.max(1, axis.ticks.length - 1);
    const isIn = (/** @type {number} */ place) => {
      const at = axis.ticks.length > 1 ? place / last : 0.5;
      return at >= low - 1e-6 && at <= high + 1e-6;
    };
    return { key: axis.key, levels: axis.levels.filter((_, place) => isIn(place)), hasMissing };
  }
  const ends = axis.ticks.length > 1;
  return {
    key: axis.key, hasMissing,
    low: ends && low > 0 ? axis.valueAt(low) : undefined,
    high: ends && high < 1 ? axis.valueAt(high) : undefined,
  };
}
