/** Each trial as a line over the axes of the goal and the hyperparameters; many as a density. */

import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { onFrame } from "../frame.js";
import { t } from "../i18n.js";
import { filter, go, hovered, lang, selected } from "../state.js";
import { AxisHandle } from "./axis_handles.js";
import { binHeight, binsOf, bundlesOf, ranksOf } from "./bins.js";
import { brushText } from "./brush_text.js";
import { brushTo } from "./brush.js";
import { FONT } from "./axes.js";
import { Chart, useFrame, usePainted } from "./chart.js";
import { bytesOf, colour, shadeColour, SHADES } from "./palette.js";
import { fitted } from "./labels.js";
import { parallelAxis, rangeOf } from "./parallel_axes.js";
import { goalValues, paramsOf, trialLines } from "./trials.js";
import { inSlices } from "./slices.js";

/**
 * @typedef {import("../data/table.js").Table} Table
 * @typedef {import("./chart.js").Spot} Spot
 * @typedef {import("./axis_handles.js").Brush} Brush
 * @typedef {ReturnType<typeof parallelFacts> extends Generator<any, infer R> ? R : never} Facts
 */

const MOST_AXES = 24;
const MOST_LINES = 500; // drawn one by one
const N_BEST = 50; // of more trials
const SPACING = 80; // four axes on a phone
const TOP = 34;
const BELOW = 34; // with the place of missing values

/**
 * What the present trials are on their axes; null at first, then the newest facts that are ready.
 * @param {Table} table
 * @param {number} goal
 * @returns {Facts | null}
 */
export function useParallelFacts(table, goal) {
  const [facts, setFacts] = useState(/** @type {Facts | null} */ (null));
  const isBusy = useRef(false);
  const [turn, setTurn] = useState(0);
  const done = useRef("");
  const key = `${table.version.value} ${goal} ${lang.value}`;
  useEffect(() => {
    // What changes meanwhile is made after it, once.
    if (isBusy.current || done.current === key) return;
    isBusy.current = true;
    inSlices(parallelFacts(table, goal), (made) => {
      isBusy.current = false;
      done.current = key;
      setFacts(made);
      setTurn((before) => before + 1);
    });
  }, [table, key, turn]);
  return facts;
}

/**
 * @param {Table} table
 * @param {number} goal
 */
function* parallelFacts(table, goal) {
  const { metric, mode, values } = goalValues(table, goal);
  const chosen = [table.column(`metric:${metric}`), ...paramsOf(table).filter((column) => isVaried(column.values))];
  const others = t("plots.others");
  const { length } = table;
  yield;
  const { ranked, shades } = ranksOf(values, mode !== "max");
  yield;
  const axes = [];
  /** @type {Map<string, Uint8Array>} */
  const bins = new Map();
  for (const column of chosen) {
    if (!column || axes.length === MOST_AXES) continue;
    const axis = parallelAxis(column, length, others);
    axes.push(axis);
    bins.set(axis.key, binsOf(axis.heights));
    yield;
  }
  return { metric, mode, shades, ranked, bins, axes, length, nAxes: chosen.filter((column) => column).length };
}

/** @param {ArrayLike<number>} values */
function isVaried(values) {
  let first = NaN;
  for (let i = 0; i < values.length; i++) {
    if (first !== first) first = values[i];
    else if (values[i] !== first) return true;
  }
  return false;
}

/**
 * @param {{table: Table, facts: Facts, height?: number, label: string}} props
 */
export function Parallel({ table, facts, height = 380, label }) {
  const [order, setOrder] = useState(/** @type {string[]} */ ([]));
  const axes = useMemo(() => ordered(facts.axes, order), [facts, order]);
  const frame = useFrame(height, axes.length * SPACING);
  const [brushes, setBrushes] = useState(/** @type {Map<string, Brush>} */ (new Map()));
  const [spot, setSpot] = useState(/** @type {Spot | null} */ (null));
  const written = useRef("");
  const { mask, text } = filter.value;
  const isWaiting = useRef(false); // for the next frame: until then the filter is that before the brushes
  const active = isWaiting.current || text === written.current ? brushes : new Map(); // another filter replaces the brushes
  const { shades, ranked, bins } = facts;
  const hasMissing = axes.some((axis) => axis.hasMissing);
  const tall = frame.height - TOP - (hasMissing ? BELOW : 12);
  const bottom = hasMissing ? -26 / tall : 0;
  const spacing = axes.length > 1 ? (frame.width - SPACING) / (axes.length - 1) : 0;
  const xOf = (/** @type {number} */ i) => SPACING / 2 + i * spacing;
  const yOf = (/** @type {number} */ at) => TOP + tall * (1 - (at === at ? at : (bottom * 20) / 26));
  const focus = useMemo(() => {
    const rows = mask ? ranked.filter((row) => mask[row] === 1) : ranked;
    return rows.length > MOST_LINES ? { rows, exact: rows.subarray(0, N_BEST) } : { rows, exact: rows };
  }, [ranked, mask]);
  const jobOf = (/** @type {Uint8Array | null} */ only, /** @type {boolean} */ isContext) => {
    const colours = isContext ? [bytesOf(colour("stopped", frame.dark))] : SHADES.map((pair) => bytesOf(pair[frame.dark ? 1 : 0]));
    const parts = axes.slice(1).map((axis, i) => bundlesOf(/** @type {any} */ (bins.get(axes[i].key)), /** @type {any} */ (bins.get(axis.key)), shades, only));
    const n = parts.reduce((sum, part) => sum + part.weights.length, 0);
    const job = {
      kind: /** @type {const} */ ("lines"), width: Math.round(frame.width * frame.dpr), height: Math.round(frame.height * frame.dpr),
      x0: new Float32Array(n), y0: new Float32Array(n), x1: new Float32Array(n), y1: new Float32Array(n),
      weights: new Float32Array(n), shades: new Float32Array(n), colours, opacity: isContext ? 0.35 : 0.85,
    };
    let at = 0;
    parts.forEach((part, i) => {
      for (let j = 0; j < part.weights.length; j++, at++) {
        job.x0[at] = xOf(i) * frame.dpr;
        job.x1[at] = xOf(i + 1) * frame.dpr;
        job.y0[at] = yOf(binHeight(part.left[j])) * frame.dpr;
        job.y1[at] = yOf(binHeight(part.right[j])) * frame.dpr;
        job.weights[at] = part.weights[j];
        job.shades[at] = part.shades[j];
      }
    });
    return { job };
  };
  const all = usePainted(frame, () => (mask ? jobOf(null, true) : { job: null }), [facts, axes, !mask]);
  const isDense = focus.rows.length > MOST_LINES;
  const dense = usePainted(frame, () => (isDense ? jobOf(mask, false) : { job: null }), [facts, axes, mask, isDense]);
  const apply = (/** @type {Map<string, Brush>} */ next) => {
    setBrushes(next);
    const ranges = axes.flatMap((axis) => (next.has(axis.key) ? [rangeOf(axis, /** @type {Brush} */ (next.get(axis.key)))] : []));
    written.current = brushText(table, ranges);
    pending.current = ranges;
    isWaiting.current = true;
    onFrame(flush);
  };
  const pending = useRef(/** @type {import("./brush_text.js").Range[]} */ ([]));
  const [flush] = useState(() => () => {
    isWaiting.current = false;
    brushTo(table, pending.current);
  });
  const lineY = (/** @type {number} */ row, /** @type {number} */ x) => {
    const gap = Math.max(0, Math.min(axes.length - 2, Math.floor((x - xOf(0)) / spacing)));
    const share = Math.max(0, Math.min(1, (x - xOf(gap)) / spacing));
    return yOf(axes[gap].heights[row]) * (1 - share) + yOf(axes[gap + 1]?.heights[row] ?? 0) * share;
  };
  const spotAt = (/** @type {number} */ row, /** @type {number} */ x) => ({ x, y: lineY(row, x), row, lines: () => trialLines(table, row) });
  const find = (/** @type {number} */ x, /** @type {number} */ y) => {
    let best = -1;
    let least = 8;
    if (axes.length > 1 && y > TOP - 8) {
      for (const row of focus.rows) {
        const distance = Math.abs(lineY(row, x) - y);
        if (distance < least) [best, least] = [row, distance];
      }
    }
    return best >= 0 ? spotAt(best, x) : null;
  };
  const step = (/** @type {Spot | null} */ from, /** @type {string} */ key) => {
    const at = from ? focus.rows.indexOf(from.row ?? -1) : -1;
    const next = at < 0 ? 0 : at + (key === "ArrowUp" || key === "ArrowLeft" ? -1 : 1);
    return focus.rows.length && next >= 0 && next < focus.rows.length ? spotAt(focus.rows[next], xOf(0)) : null;
  };
  const show = (/** @type {Spot | null} */ next) => {
    setSpot(next);
    hovered.value = next?.row ?? -1;
  };
  const trace = (/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number} */ row) => {
    ctx.beginPath();
    axes.forEach((axis, i) => ctx.lineTo(xOf(i), yOf(axis.heights[row])));
    ctx.stroke();
  };
  const draw = (/** @type {CanvasRenderingContext2D} */ ctx) => {
    if (mask && all?.image) ctx.drawImage(all.image, 0, 0, frame.width, frame.height);
    if (isDense && dense?.image) ctx.drawImage(dense.image, 0, 0, frame.width, frame.height);
    ctx.lineWidth = 1.2;
    ctx.globalAlpha = Math.max(0.25, Math.min(0.9, 60 / Math.max(1, focus.exact.length)));
    for (let i = focus.exact.length - 1; i >= 0; i--) {
      ctx.strokeStyle = shadeColour(shades[focus.exact[i]], frame.dark);
      trace(ctx, focus.exact[i]);
    }
    ctx.globalAlpha = 1;
    if (focus.rows.length) {
      ctx.strokeStyle = colour("best", frame.dark);
      ctx.lineWidth = 3;
      trace(ctx, focus.rows[0]);
    }
    drawParallelAxes(ctx, axes, xOf, yOf, spacing, frame.dark, hasMissing);
  };
  const over = (/** @type {CanvasRenderingContext2D} */ ctx) => {
    ctx.lineWidth = 2.5;
    for (const row of [...selected.value, hovered.value]) {
      if (row < 0 || row >= facts.length) continue;
      ctx.strokeStyle = colour(row === hovered.value ? "ink" : "failed", frame.dark);
      trace(ctx, row);
    }
  };
  const move = (/** @type {number} */ i, /** @type {number} */ by) => {
    const keys = axes.map((axis) => axis.key);
    const [key] = keys.splice(i, 1);
    keys.splice(Math.max(0, Math.min(keys.length, i + by)), 0, key);
    setOrder(keys);
  };
  return html`<${Chart} frame=${frame} label=${label} draw=${draw} deps=${[facts, axes, focus, all, dense, mask]} over=${over}
      overDeps=${[axes, hovered.value, selected.value]} spot=${spot} onSpot=${show} find=${find} step=${step}
      onPick=${(/** @type {Spot} */ { row }) => row !== undefined && go("trial", table.ids[row])}>
    ${frame.width > 0 && axes.map((axis, i) => html`<${AxisHandle} key=${axis.key} axis=${axis} x=${xOf(i)} room=${Math.min(spacing || SPACING, i % (axes.length - 1) ? 140 : SPACING) - 4}
      top=${TOP} height=${tall} bottom=${axis.hasMissing ? bottom : 0} spacing=${spacing || SPACING} brush=${active.get(axis.key)}
      text=${active.has(axis.key) ? brushText(table, [rangeOf(axis, /** @type {Brush} */ (active.get(axis.key)))]) : t("plots.not_brushed")}
      onMove=${(/** @type {number} */ by) => move(i, by)}
      onBrush=${(/** @type {Brush | null} */ brush) => {
        const next = new Map(active);
        if (brush) next.set(axis.key, brush);
        else next.delete(axis.key);
        apply(next);
      }} />`)}
  </${Chart}>`;
}

/** @template {{key: string}} A @param {A[]} axes @param {string[]} order @returns {A[]} */
function ordered(axes, order) {
  const place = (/** @type {A} */ axis) => (order.includes(axis.key) ? order.indexOf(axis.key) : axes.indexOf(axis) + order.length);
  return order.length ? [...axes].sort((a, b) => place(a) - place(b)) : axes;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {import("./parallel_axes.js").ParallelAxis[]} axes
 * @param {(i: number) => number} xOf
 * @param {(at: number) => number} yOf
 * @param {number} spacing
 * @param {boolean} isDark
 * @param {boolean} hasMissing
 */
function drawParallelAxes(ctx, axes, xOf, yOf, spacing, isDark, hasMissing) {
  ctx.font = FONT.replace("12px", "11px");
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  const measure = (/** @type {string} */ text) => ctx.measureText(text).width;
  axes.forEach((axis, i) => {
    const x = Math.round(xOf(i)) + 0.5;
    ctx.strokeStyle = colour("cutoff", isDark);
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(x, yOf(0));
    ctx.lineTo(x, yOf(1));
    ctx.stroke();
    const isLast = i > 0 && i === axes.length - 1; // its labels have no room behind it
    ctx.textAlign = isLast ? "right" : "left";
    const ticks = axis.ticks.length > 12 ? axis.ticks.filter((_, j) => j % Math.ceil(axis.ticks.length / 12) === 0) : axis.ticks;
    const write = (/** @type {string} */ label, /** @type {number} */ y) => {
      const text = fitted(label, Math.max(30, (spacing || 96) - 12), measure);
      ctx.lineWidth = 3;
      ctx.strokeStyle = colour("page", isDark);
      ctx.strokeText(text, x + (isLast ? -5 : 5), y);
      ctx.fillStyle = colour("ink", isDark);
      ctx.fillText(text, x + (isLast ? -5 : 5), y);
    };
    for (const { at, label } of ticks) write(label, yOf(at));
    if (hasMissing && axis.hasMissing) write(t("plots.missing"), yOf(NaN));
  });
}
