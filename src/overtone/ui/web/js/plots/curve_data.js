/** Learning curves as columns over one x: each attempt, and each config of it, is a line of its own. */

/**
 * @typedef {object} Segment
 * @property {number} attempt
 * @property {Record<string, any>} [changes]  Values that are other than before, as with PBT; in the first one all.
 * @property {string} [source]  The trial that it went on from; "" for none.
 * @property {number[]} t
 * @property {(number | null)[]} value
 *
 * @typedef {{id: string, row: number, label?: string, segments: Segment[]}} Curve
 * @typedef {{curve: number, isJoin: boolean, label: string, n: number}} CurveLine
 */

/**
 * @param {Curve[]} curves
 * @returns {{x: number[], columns: (number | null | undefined)[][] & any[], lines: CurveLine[], curves: Curve[]}}
 */
export function joinedCurves(curves) {
  const places = new Set(curves.flatMap((curve) => curve.segments.flatMap((one) => one.t)));
  const x = [...places].sort((a, b) => a - b);
  const at = new Map(x.map((value, i) => [value, i]));
  /** @type {any[]} */
  const columns = [];
  /** @type {CurveLine[]} */
  const lines = [];
  /**
   * @param {CurveLine} line
   * @param {number[]} t
   * @param {(number | null)[]} values
   */
  const add = (line, t, values) => {
    /** @type {(number | null | undefined)[]} */
    const column = new Array(x.length).fill(undefined);
    t.forEach((time, i) => (column[/** @type {number} */ (at.get(time))] = values[i]));
    columns.push(column);
    lines.push(line);
  };
  curves.forEach((curve, i) => {
    /** @type {Segment | null} */
    let before = null;
    for (const segment of curve.segments) {
      if (!segment.t.length) continue;
      add({ curve: i, isJoin: false, label: segmentLabel(segment, before === null), n: segment.t.length }, segment.t, segment.value);
      if (before) {
        // The last place of the segment before, and the first of this one: a restart may go back in time.
        const from = before.t.length - 1;
        const ends = /** @type {[number, number | null][]} */ ([[before.t[from], before.value[from]], [segment.t[0], segment.value[0]]]);
        if (ends[0][0] !== ends[1][0]) {
          ends.sort((a, b) => a[0] - b[0]);
          add({ curve: i, isJoin: true, label: "", n: 2 }, ends.map((end) => end[0]), ends.map((end) => end[1]));
        }
      }
      before = segment;
    }
  });
  return { x, columns, lines, curves };
}

/**
 * @param {Segment} segment
 * @param {boolean} isFirst  Then its changes are the whole config.
 */
function segmentLabel({ attempt, changes, source }, isFirst) {
  const parts = attempt > 0 ? [`#${attempt + 1}`] : [];
  if (source) parts.push(`← ${source}`);
  for (const [name, value] of Object.entries((!isFirst && changes) || {}).slice(0, 4)) {
    parts.push(`${name} ${typeof value === "number" ? Number(value.toPrecision(4)) : String(value).slice(0, 40)}`);
  }
  return parts.join(", ");
}
