/** When each trial ran, by node and slot. */

import { html, useState } from "../html.js";
import { took } from "../format.js";
import { t } from "../i18n.js";
import { filter, go, hovered } from "../state.js";
import { areaOf, drawAxes } from "./axes.js";
import { Chart, useFrame, usePainted } from "./chart.js";
import { bytesOf, colour } from "./palette.js";
import { fitted } from "./labels.js";
import { extent, placed, scaleOf, valueAt } from "./scales.js";
import { slotsOf } from "./slots.js";
import { LOOKS, codesOf, trialLines } from "./trials.js";

/**
 * @typedef {import("../data/table.js").Table} Table
 * @typedef {import("./chart.js").Spot} Spot
 * @typedef {ReturnType<typeof timelineFacts>} TimelineFacts
 */

/**
 * @param {Table} table
 * @param {number} [now]  The end of trials that have not ended: seconds of the experiment's clock.
 */
export function timelineFacts(table, now = -Infinity) {
  const none = new Float32Array(table.length).fill(NaN);
  const started = table.column("fact:started")?.values ?? none;
  const ended = table.column("fact:ended")?.values ?? none;
  const nodes = table.column("fact:node");
  const limits = extent([started, ended], false);
  const last = Math.max(limits ? limits[1] : 0, now);
  const end = Float64Array.from(started, (start, row) => Math.max(start, ended[row] === ended[row] ? ended[row] : last));
  const slots = slotsOf(started, end, nodes?.values ?? null);
  const name = (/** @type {number} */ code) => String(nodes?.levels?.[code] ?? t("plots.no_node"));
  return { started, end, slots, limits: limits && /** @type {[number, number]} */ ([limits[0], last]), name, codes: codesOf(table) };
}

/** @param {{table: Table, facts: TimelineFacts, label: string}} props */
export function Timeline({ table, facts, label }) {
  const { started, end, slots, codes } = facts;
  const nLanes = slots.rows.length;
  const frame = useFrame(Math.max(140, Math.min(560, nLanes * 18 + 52)));
  const [spot, setSpot] = useState(/** @type {Spot | null} */ (null));
  const { mask } = filter.value;
  const make = () => {
    const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    const axis = { title: t("plots.time"), is_time: true, low: Math.min(0, facts.limits?.[0] ?? 0) };
    const x = scaleOf(axis, facts.limits, 0.01);
    const ticks = slots.nodes.map(({ node, first, n }) => /** @type {[number, string]} */ ([first + n / 2 - 0.5, facts.name(node)]));
    const y = scaleOf({ ticks, low: -0.5, high: nLanes - 0.5, is_reversed: true }, null);
    const box = { left: 0, top: 8, width: frame.width, height: 100 };
    const below = areaOf(context, x, y, box).below;
    const area = areaOf(context, x, y, { ...box, height: frame.height - 8 - below });
    const each = area.height / nLanes;
    const gap = each > 4 ? Math.min(2, each * 0.15) : 0;
    const px = placed(x, started, area.left, area.left + area.width);
    const ends = placed(x, end, area.left, area.left + area.width);
    const { dpr } = frame;
    const colours = LOOKS.map((look) => bytesOf(colour(look.role, frame.dark)));
    const faint = bytesOf(colour("grid", frame.dark));
    const job = {
      kind: /** @type {const} */ ("bars"), width: Math.round(frame.width * dpr), height: Math.round(frame.height * dpr),
      x0: px.map((at) => at * dpr),
      x1: ends.map((at, row) => Math.max(px[row] + 0.5, at - (at - px[row] > 4 ? 0.75 : 0)) * dpr), // trials in a row are told apart
      y: Float32Array.from(slots.lane, (lane) => (lane < 0 ? NaN : (area.top + lane * each + gap / 2) * dpr)),
      thickness: Math.max(each - gap, 0.05) * dpr,
      codes: mask ? codes.map((code, row) => (mask[row] ? code : LOOKS.length)) : codes,
      colours: [...colours, faint],
    };
    return { job, area, each };
  };
  const shown = usePainted(frame, make, [facts, mask]);
  const spotAt = (/** @type {number} */ row) => {
    if (!shown) return null;
    const { area, each } = shown;
    const [from, to] = placed(area.x, [started[row], end[row]], area.left, area.left + area.width);
    return {
      x: (from + to) / 2, y: area.top + (slots.lane[row] + 0.5) * each, row,
      lines: () => [...trialLines(table, row), t("plots.ran", { time: took(end[row] - started[row]) })],
    };
  };
  const rowAt = (/** @type {number} */ lane, /** @type {number} */ time, /** @type {number} */ slack) => {
    const rows = slots.rows[lane];
    if (!rows) return -1;
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (started[rows[middle]] <= time) low = middle + 1;
      else high = middle;
    }
    const before = rows[Math.max(0, low - 1)];
    return started[before] - slack <= time && time <= end[before] + slack ? before : -1;
  };
  const find = (/** @type {number} */ x, /** @type {number} */ y) => {
    if (!shown) return null;
    const { area, each } = shown;
    const time = valueAt(area.x, (x - area.left) / area.width);
    const slack = Math.abs(valueAt(area.x, 3 / area.width) - valueAt(area.x, 0));
    const row = rowAt(Math.floor((y - area.top) / each), time, slack);
    return row >= 0 ? spotAt(row) : null;
  };
  const step = (/** @type {Spot | null} */ from, /** @type {string} */ key) => {
    if (from?.row === undefined) return slots.rows[0]?.length ? spotAt(slots.rows[0][0]) : null;
    const lane = slots.lane[from.row];
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const next = slots.rows[lane][slots.rows[lane].indexOf(from.row) + (key === "ArrowLeft" ? -1 : 1)];
      return next === undefined ? null : spotAt(next);
    }
    const other = slots.rows[lane + (key === "ArrowUp" ? -1 : 1)];
    if (!other?.length) return null;
    const middle = (started[from.row] + end[from.row]) / 2;
    const distance = (/** @type {number} */ row) => Math.abs((started[row] + end[row]) / 2 - middle);
    return spotAt(other.reduce((best, row) => (distance(row) < distance(best) ? row : best), other[0]));
  };
  const show = (/** @type {Spot | null} */ next) => {
    setSpot(next);
    hovered.value = next?.row ?? -1;
  };
  const draw = (/** @type {CanvasRenderingContext2D} */ ctx) => {
    if (!shown) return;
    const { area, each } = shown;
    drawAxes(ctx, area, frame.dark);
    if (shown.image) ctx.drawImage(shown.image, 0, 0, frame.width, frame.height);
    ctx.strokeStyle = colour("faint", frame.dark);
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const { first } of slots.nodes.slice(1)) {
      ctx.moveTo(area.outer, Math.round(area.top + first * each) + 0.5);
      ctx.lineTo(area.left + area.width, Math.round(area.top + first * each) + 0.5);
    }
    ctx.stroke();
    if (each < 13 || nLanes * 12 > 3000) return;
    // The numbers of trials in bars that have room for them.
    ctx.fillStyle = colour("page", frame.dark);
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.font = "11px system-ui, sans-serif";
    const measure = (/** @type {string} */ text) => ctx.measureText(text).width;
    for (const rows of slots.rows) {
      if (rows.length > 400) continue;
      for (const row of rows) {
        const [from, to] = placed(area.x, [started[row], end[row]], area.left, area.left + area.width);
        if (to - from > 22 && measure(String(row)) < to - from - 6) {
          ctx.fillText(fitted(row, to - from - 6, measure), from + 4, area.top + (slots.lane[row] + 0.5) * each);
        }
      }
    }
  };
  return html`<${Chart} frame=${frame} label=${label} draw=${draw} deps=${[shown]} spot=${spot} onSpot=${show}
    onPick=${(/** @type {Spot} */ { row }) => row !== undefined && go("trial", table.ids[row])} find=${find} step=${step} />`;
}
