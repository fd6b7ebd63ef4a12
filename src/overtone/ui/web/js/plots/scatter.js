/** A point for each trial, however many: history, slices. Painted by pixels.js, live, with hover and brush. */

import { html, useState } from "../html.js";
import { filter, hovered, selected } from "../state.js";
import { areaOf, clipped, drawAxes } from "./axes.js";
import { Chart, useFrame, usePainted } from "./chart.js";
import { tracePath, xPlaces, yPlaces } from "./marks.js";
import { nearestIndex, nearestPoint, neighbour } from "./nearest.js";
import { bytesOf, colour } from "./palette.js";
import { extent, placed, scaleOf, valueAt } from "./scales.js";
import { spriteOf } from "./sprites.js";
import { LOOKS, trialLines } from "./trials.js";

/**
 * @typedef {import("../data/table.js").Table} Table
 * @typedef {import("./scales.js").AxisSpec} AxisSpec
 * @typedef {import("./chart.js").Spot} Spot
 * @typedef {{axis: AxisSpec, values: ArrayLike<number>}} Side
 * @typedef {object} Content
 * @property {Side} x
 * @property {Side} y
 * @property {Uint8Array} codes  Where each trial stands: counts into LOOKS.
 * @property {{x: number[], y: number[]} | null} line  Steps, drawn above the points.
 */

const REACH = 16;
const FADED = 0.12;

/**
 * @param {object} props
 * @param {Table} props.table
 * @param {() => Content} props.content  Of the present table; called at most once per painting.
 * @param {unknown[]} props.deps
 * @param {number} props.height
 * @param {string} props.label
 * @param {(row: number) => void} props.onPick
 * @param {(x: [number, number], y: [number, number]) => void} [props.onBrush]  Limits in values.
 * @param {boolean} [props.compact]
 */
export function Scatter({ table, content, deps, height, label, onPick, onBrush, compact = false }) {
  const frame = useFrame(height);
  const [spot, setSpot] = useState(/** @type {Spot | null} */ (null));
  const [brush, setBrush] = useState(/** @type {[number, number, number, number] | null} */ (null));
  const { mask } = filter.value;
  const make = () => {
    const { x, y, codes, line } = content();
    const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    const scaleX = scaleOf(x.axis, extent([x.values], x.axis.scale === "log"));
    const scaleY = scaleOf(y.axis, extent([y.values], y.axis.scale === "log"));
    const box = { left: 0, top: 8, width: frame.width, height: frame.height };
    // The labels below decide the height of the area.
    const below = areaOf(context, scaleX, scaleY, box).below;
    const area = areaOf(context, scaleX, scaleY, { ...box, height: Math.max(40, frame.height - 8 - below) });
    const px = placed(scaleX, x.values, area.left, area.left + area.width);
    const py = placed(scaleY, y.values, area.top + area.height, area.top);
    const counts = new Array(LOOKS.length).fill(0);
    for (let i = 0; i < px.length; i++) if (px[i] + py[i] - (px[i] + py[i]) === 0) counts[codes[i]]++;
    const scaled = (/** @type {Float32Array} */ places) => places.map((at) => at * frame.dpr);
    const shown = mask ? codes.map((code, i) => (mask[i] ? code : code + LOOKS.length)) : codes;
    // Those that the filter leaves out are faint, below the others.
    const sprites = [...(mask ? spritesOf(counts, frame, FADED) : []), ...spritesOf(counts, frame, 1)];
    /** @type {import("./pixels.js").Job | null} */
    const job = {
      kind: "points", width: Math.round(frame.width * frame.dpr), height: Math.round(frame.height * frame.dpr),
      x: scaled(px), y: scaled(py), sprites,
      codes: mask ? shown.map((code) => (code + LOOKS.length) % (2 * LOOKS.length)) : shown,
    };
    return { job, area, px, py, codes, line, isFew: px.length < 3000, nearest: nearestIndex(px, py, frame.width, frame.height) };
  };
  const shown = usePainted(frame, make, [...deps, mask]);
  const spotAt = (/** @type {number} */ row) =>
    shown && row >= 0 ? { x: shown.px[row], y: shown.py[row], row, lines: () => trialLines(table, row) } : null;
  const show = (/** @type {Spot | null} */ next) => {
    setSpot(next);
    hovered.value = next?.row ?? -1;
  };
  const step = (/** @type {Spot | null} */ from, /** @type {string} */ key) => {
    if (!shown) return null;
    const { px, py } = shown;
    const isShown = (/** @type {number} */ i) => px[i] + py[i] - (px[i] + py[i]) === 0 && (!mask || mask[i] === 1);
    if (from?.row === undefined) return spotAt(px.findIndex((_, i) => isShown(i)));
    return spotAt(neighbour(px, py, from.row, key, isShown));
  };
  const brushing = useBrush(shown?.area, setBrush, onBrush && ((/** @type {[number, number, number, number]} */ [x0, y0, x1, y1]) => {
    if (!shown) return;
    const { area } = shown;
    // A box that reaches an edge has no limit there.
    const at = (/** @type {import("./scales.js").Scale} */ scale, /** @type {number} */ share) =>
      share < 0.01 ? -Infinity : share > 0.99 ? Infinity : valueAt(scale, share);
    const atX = (/** @type {number} */ x) => at(area.x, (x - area.left) / area.width);
    const atY = (/** @type {number} */ y) => at(area.y, (area.top + area.height - y) / area.height);
    onBrush([atX(x0), atX(x1)], [atY(y1), atY(y0)]);
  }));
  const marked = [...selected.value, spot ? -1 : hovered.value].filter((row) => row >= 0);
  const draw = (/** @type {CanvasRenderingContext2D} */ ctx) => {
    if (!shown) return;
    const { area, image, line, isFew } = shown;
    drawAxes(ctx, area, frame.dark);
    // Few points stand on the line, many would hide it.
    if (image && !isFew) ctx.drawImage(image, 0, 0, frame.width, frame.height);
    if (line) {
      clipped(ctx, area, () => {
        ctx.beginPath();
        tracePath(ctx, xPlaces(area, line.x), yPlaces(area, line.y), true);
        if (!isFew) {
          ctx.strokeStyle = colour("page", frame.dark);
          ctx.lineWidth = 5;
          ctx.globalAlpha = 0.7;
          ctx.stroke();
        }
        ctx.strokeStyle = colour("best", frame.dark);
        ctx.lineWidth = 2.5;
        ctx.globalAlpha = 1;
        ctx.stroke();
      });
    }
    if (image && isFew) ctx.drawImage(image, 0, 0, frame.width, frame.height);
  };
  const over = (/** @type {CanvasRenderingContext2D} */ ctx) => {
    ctx.lineWidth = 2;
    ctx.strokeStyle = colour("ink", frame.dark);
    for (const row of shown ? marked : []) {
      if (!shown || !Number.isFinite(shown.px[row] + shown.py[row])) continue;
      ctx.beginPath();
      ctx.arc(shown.px[row], shown.py[row], 6, 0, 7);
      ctx.stroke();
    }
    if (!brush) return;
    ctx.fillStyle = colour("trial", frame.dark);
    ctx.globalAlpha = 0.15;
    ctx.fillRect(brush[0], brush[1], brush[2] - brush[0], brush[3] - brush[1]);
    ctx.globalAlpha = 1;
  };
  return html`<${Chart} frame=${frame} label=${label} draw=${draw} deps=${[shown]} over=${over}
    overDeps=${[shown, brush, marked.join()]} spot=${spot} onSpot=${show}
    onPick=${(/** @type {Spot} */ { row }) => row !== undefined && onPick(row)}
    onDrag=${compact ? undefined : brushing} step=${step}
    find=${(/** @type {number} */ x, /** @type {number} */ y) => shown && !brush && spotAt(nearestPoint(shown.nearest, x, y, REACH))} />`;
}

/**
 * Symbols of trials: the more there are, the smaller, and the more of a state, the fainter.
 * @param {number[]} counts  By state.
 * @param {import("./chart.js").Frame} frame
 * @param {number} strength
 */
function spritesOf(counts, frame, strength) {
  const n = counts.reduce((sum, count) => sum + count, 0);
  const size = n < 300 ? 7 : n < 3000 ? 5 : n < 30000 ? 3.5 : 2.5;
  return LOOKS.map(({ role, symbol, state }, code) => {
    const opacity = (counts[code] < 3000 ? 0.9 : counts[code] < 30000 ? 0.6 : 0.35) * strength;
    const isUrgent = state === "failed" || state === "running" || state === "paused";
    return spriteOf(symbol, (isUrgent ? size + 1.5 : size) * frame.dpr, opacity, bytesOf(colour(role, frame.dark)));
  });
}

/**
 * Follows a drag over an area as a rectangle.
 * @param {import("./axes.js").Box | undefined} area
 * @param {(box: [number, number, number, number] | null) => void} onMove
 * @param {((box: [number, number, number, number]) => void) | undefined} onEnd
 */
function useBrush(area, onMove, onEnd) {
  if (!onEnd || !area) return undefined;
  return (/** @type {PointerEvent} */ event, /** @type {number} */ x, /** @type {number} */ y) => {
    if (event.button !== 0 || event.pointerType === "touch") return false; // a finger scrolls the page
    const element = /** @type {HTMLElement} */ (event.currentTarget);
    const inX = (/** @type {number} */ at) => Math.max(area.left, Math.min(area.left + area.width, at));
    const inY = (/** @type {number} */ at) => Math.max(area.top, Math.min(area.top + area.height, at));
    /** @type {[number, number, number, number] | null} */
    let box = null;
    const move = (/** @type {PointerEvent} */ next) => {
      const [dx, dy] = [next.clientX - event.clientX, next.clientY - event.clientY];
      if (!box && Math.hypot(dx, dy) < 6) return;
      const [x0, x1] = [inX(x), inX(x + dx)].sort((a, b) => a - b);
      const [y0, y1] = [inY(y), inY(y + dy)].sort((a, b) => a - b);
      box = [x0, y0, x1, y1];
      onMove(box);
    };
    const end = () => {
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
      onMove(null);
      if (!box) return;
      // The click that ends a drag opens no trial.
      const swallow = (/** @type {Event} */ click) => click.stopImmediatePropagation();
      element.addEventListener("click", swallow, true);
      setTimeout(() => element.removeEventListener("click", swallow, true));
      onEnd(box);
    };
    element.setPointerCapture(event.pointerId);
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
    return false;
  };
}
