/** The ticks of an axis: as analysis/drawing/scales.py. */

import { grouped, shortDuration, shortNumber } from "./labels.js";
import { shareOf } from "./scales.js";

/** @typedef {import("./scales.js").Scale} Scale */
/** @typedef {{share: number, label: string}} Tick */

/**
 * About one tick per 60 pixels of `room`, at least two.
 * @param {Scale} scale
 * @param {number} room
 * @returns {Tick[]}
 */
export function ticksOf(scale, room) {
  const { axis, low, high } = scale;
  /** @type {[number, string][]} */
  let pairs;
  if (axis.ticks?.length) pairs = axis.ticks;
  else if (axis.scale === "category") pairs = (axis.categories ?? []).map((label, i) => [i, label]);
  else if (axis.scale === "log") pairs = logTicks(low, high, Math.max(2, Math.floor(room / 45)));
  else {
    pairs = linearTicks(low, high, Math.max(2, Math.floor(room / 60)), axis);
    if (pairs.length < 2) pairs = linearTicks(low, high, 5, axis);
  }
  return pairs
    .map(([value, label]) => ({ share: shareOf(scale, value), label }))
    .filter((tick) => tick.share >= -1e-9 && tick.share <= 1 + 1e-9);
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} most
 * @param {{is_time?: boolean, is_whole?: boolean}} axis
 * @returns {[number, string][]}
 */
function linearTicks(low, high, most, axis) {
  let step = axis.is_time ? timeStep(high - low, most) : stepOf(high / most - low / most);
  if (axis.is_whole) step = Math.max(1, step);
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); values.length < most + 2; i++) {
    if (!(i * step <= high + step * 1e-9)) break;
    values.push(i * step);
  }
  if (axis.is_time) {
    const [unit, name] = TIME_UNITS.find(([size]) => step >= size) ?? [0, ""];
    if (!unit) return values.map((v) => [v, Math.abs(v) < 120 ? shortDuration(v) : `${Number(v.toPrecision(6))} s`]);
    return values.map((v) => [v, v ? `${Number((v / unit).toPrecision(6))} ${name}` : "0"]);
  }
  const largest = Math.max(0, ...values.map(Math.abs));
  if (largest >= 1e7 || (largest > 0 && largest < 1e-3)) {
    return values.map((v) => [v, shortNumber(Number(v.toPrecision(6)))]);
  }
  const decimals = step > 0 ? Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))) : 0;
  return values.map((v) => [v, grouped(v, decimals)]);
}

/** @type {[number, string][]} */
const TIME_UNITS = [[86400, "d"], [3600, "h"], [60, "min"]];

/** @param {number} rough */
function stepOf(rough) {
  const power = rough > 1e-300 ? 10 ** Math.floor(Math.log10(rough)) : 1e-300;
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= rough * (1 - 1e-9)) ?? power * 10;
}

/**
 * @param {number} span
 * @param {number} most
 */
function timeStep(span, most) {
  const rough = span / most;
  if (rough < 0.5) return stepOf(rough);
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
  return steps.find((step) => step >= rough * (1 - 1e-9)) ?? Math.max(1, stepOf(rough / 86400)) * 86400;
}

/**
 * Powers of ten, or 1, 2 and 5 times powers of ten in a short range.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 * @returns {[number, string][]}
 */
function logTicks(low, high, most) {
  const first = Math.ceil(low - 1e-9);
  const last = Math.floor(high + 1e-9);
  const n = last - first + 1;
  /** @type {[number, string][]} */
  const ticks = [];
  if (n >= 3 || high - low > 4) {
    const every = Math.max(1, Math.ceil(n / most));
    for (let power = first; power <= last; power += every) {
      if (Math.abs(power) < 300) ticks.push([10 ** power, shortNumber(10 ** power)]);
    }
    return ticks;
  }
  if (high - low < 0.25) {
    return linearTicks(10 ** low, Math.min(10 ** high, Number.MAX_VALUE), Math.max(2, Math.min(most, 4)), {})
      .filter(([value]) => value > 0)
      .map(([value]) => [value, shortNumber(value)]);
  }
  for (let power = Math.max(Math.floor(low), -320); power <= Math.min(Math.ceil(high), 307); power++) {
    for (const factor of [1, 2, 5]) {
      const value = Number(`${factor}e${power}`);
      const place = Math.log10(value);
      if (place >= low - 1e-9 && place <= high + 1e-9) ticks.push([value, shortNumber(value)]);
    }
  }
  return ticks;
}

/**
 * Leaves ticks out, so that each label has `each` pixels.
 * @param {Tick[]} ticks
 * @param {number} room
 * @param {number} each
 */
export function fewer(ticks, room, each) {
  /** @type {Tick[]} */
  const kept = [];
  for (const tick of [...ticks].sort((a, b) => a.share - b.share)) {
    if (!kept.length || (tick.share - kept[kept.length - 1].share) * room >= each) kept.push(tick);
  }
  return kept;
}
