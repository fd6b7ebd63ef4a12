/** From values to places along an axis: as analysis/drawing/scales.py. */

/**
 * @typedef {object} AxisSpec
 * @property {string} [title]
 * @property {"linear"|"log"|"category"} [scale]
 * @property {string[]} [categories]
 * @property {[number, string][]} [ticks]
 * @property {number|null} [low]
 * @property {number|null} [high]
 * @property {boolean} [is_reversed]
 * @property {boolean} [is_time]
 * @property {boolean} [is_whole]
 * @property {boolean} [is_hidden]
 */

/**
 * @typedef {object} Scale
 * @property {AxisSpec} axis
 * @property {number} low   In units of the axis: powers of ten on a logarithmic one.
 * @property {number} high
 */

/** @typedef {ArrayLike<number>} Values */

/**
 * The least and the greatest value that an axis can show; null if there is none.
 * @param {Iterable<Values>} arrays
 * @param {boolean} isLog
 * @returns {[number, number] | null}
 */
export function extent(arrays, isLog) {
  let low = Infinity;
  let high = -Infinity;
  for (const values of arrays) {
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value - value !== 0 || (isLog && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low > high ? null : [low, high];
}

/**
 * The scale of an axis that shows `limits` (values), with a margin.
 * @param {AxisSpec} axis
 * @param {[number, number] | null} limits
 * @param {number} [share] The margin, as a share of the length.
 * @returns {Scale}
 */
export function scaleOf(axis, limits, share = 0.04) {
  const isLog = axis.scale === "log";
  if (axis.scale === "category") {
    return { axis, low: -0.5, high: Math.max(0.5, (axis.categories?.length ?? 1) - 0.5) };
  }
  let [low, high] = limits ?? (isLog ? [1, 10] : [0, 1]);
  low = axis.low ?? low;
  high = axis.high ?? high;
  if (isLog) [low, high] = [Math.log10(low), Math.log10(Math.max(high, low))];
  if (!(high - low > 1e-12 * Math.max(Math.abs(low), Math.abs(high)))) {
    const half = Math.abs(low) * 0.1 || 0.5;
    low -= half;
    high += half;
  }
  const margin = (high / 2 - low / 2) * share * 2;
  const most = Number.MAX_VALUE;
  return {
    axis,
    low: axis.low == null ? Math.max(low - margin, -most) : low,
    high: axis.high == null ? Math.min(high + margin, most) : high,
  };
}

/**
 * The place of a value as a share of the axis; NaN where the axis cannot show it.
 * @param {Scale} scale
 * @param {number} value
 */
export function shareOf(scale, value) {
  if (value - value !== 0) return NaN;
  if (scale.axis.scale === "log") value = value > 0 ? Math.log10(value) : NaN;
  // Halves: the difference of two large numbers may be infinite.
  const share = (value / 2 - scale.low / 2) / (scale.high / 2 - scale.low / 2);
  return scale.axis.is_reversed ? 1 - share : share;
}

/**
 * The value at a share of the axis.
 * @param {Scale} scale
 * @param {number} share
 */
export function valueAt(scale, share) {
  if (scale.axis.is_reversed) share = 1 - share;
  const value = scale.low * (1 - share) + scale.high * share;
  return scale.axis.scale === "log" ? Math.min(10 ** value, Number.MAX_VALUE) : value;
}

/**
 * Pixels from `from` (share 0) to `to` (share 1), at most nine lengths beyond; NaN where not shown.
 * @param {Scale} scale
 * @param {Values} values
 * @param {number} from
 * @param {number} to
 */
export function placed(scale, values, from, to) {
  const out = new Float32Array(values.length);
  const isLog = scale.axis.scale === "log";
  const span = scale.high / 2 - scale.low / 2;
  const start = scale.axis.is_reversed ? to : from;
  const length = scale.axis.is_reversed ? from - to : to - from;
  const half = scale.low / 2;
  for (let i = 0; i < values.length; i++) {
    let value = values[i];
    if (value - value !== 0 || (isLog && value <= 0)) {
      out[i] = NaN;
      continue;
    }
    if (isLog) value = Math.log10(value);
    const share = (value / 2 - half) / span;
    out[i] = start + length * (share < -9 ? -9 : share > 10 ? 10 : share);
  }
  return out;
}

/**
 * Whether positive values differ so much that a metric is shown on a logarithmic axis: plots/axis.py.
 * @param {[number, number] | null} limits
 */
export function spansDecades(limits) {
  return limits !== null && limits[0] > 0 && limits[0] <= limits[1] / 1000;
}
