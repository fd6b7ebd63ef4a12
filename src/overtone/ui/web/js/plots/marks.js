/** The marks of a scene (analysis/drawing/scene.py) on a canvas. */

import { clipped } from "./axes.js";
import { fitted } from "./labels.js";
import { colour, shadeColour } from "./palette.js";
import { placed } from "./scales.js";

/**
 * @typedef {import("./axes.js").Area} Area
 * @typedef {import("./scales.js").Values} Values
 * @typedef {import("./sprites.js").Symbol} Symbol
 *
 * @typedef {{type: "Points", x: Values, y: Values, role: string, label: string, shades: Values|null,
 *   hover: string[], size: number, symbol: Symbol, rows?: Values}} Points
 * @typedef {{type: "Line", x: Values, y: Values, role: string, label: string, is_step: boolean,
 *   is_dashed: boolean, width: number, opacity: number, shade: number|null, hover: string, rows?: Values}} Line
 * @typedef {{type: "Band", x: Values, low: Values, high: Values, role: string, label: string}} Band
 * @typedef {{type: "Bars", at: Values, start: Values, end: Values, role: string, label: string, hover: string[],
 *   is_horizontal: boolean, thickness: number, error_low: Values|null, error_high: Values|null, rows?: Values}} Bars
 * @typedef {{type: "Cells", x_edges: Values, y_edges: Values, shades: Values, hover: string[]}} Cells
 * @typedef {{type: "Texts", x: Values, y: Values, texts: string[], anchor: "start"|"middle"|"end", dx: number,
 *   dy: number, room: number}} Texts
 * @typedef {Points | Line | Band | Bars | Cells | Texts} Mark
 */

/** @param {Area} area @param {Values} values */
export const xPlaces = (area, values) => placed(area.x, values, area.left, area.left + area.width);
/** @param {Area} area @param {Values} values */
export const yPlaces = (area, values) => placed(area.y, values, area.top + area.height, area.top);

/**
 * The arrays of a mark along x or y, which its axis has to show.
 * @param {Mark} mark
 * @param {boolean} ofX
 * @returns {Values[]}
 */
export function extentsOf(mark, ofX) {
  if (mark.type === "Cells") return [ofX ? mark.x_edges : mark.y_edges];
  if (mark.type === "Band") return ofX ? [mark.x] : [mark.low, mark.high];
  if (mark.type !== "Bars") return [ofX ? mark.x : mark.y];
  if (mark.is_horizontal === ofX) {
    const ends = [mark.start, mark.end, mark.error_low, mark.error_high];
    return /** @type {Values[]} */ (ends.filter((values) => values));
  }
  const at = Array.from(mark.at);
  return [at.map((value) => value - mark.thickness / 2), at.map((value) => value + mark.thickness / 2)];
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Area} area
 * @param {Mark} mark
 * @param {boolean} isDark
 */
export function drawMark(ctx, area, mark, isDark) {
  clipped(ctx, area, () => {
    if (mark.type === "Points") drawPoints(ctx, area, mark, isDark);
    else if (mark.type === "Line") drawLine(ctx, area, mark, isDark);
    else if (mark.type === "Band") drawBand(ctx, area, mark, isDark);
    else if (mark.type === "Bars") drawBars(ctx, area, mark, isDark);
    else if (mark.type === "Cells") drawCells(ctx, area, mark, isDark);
    else drawTexts(ctx, area, mark, isDark);
  });
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Symbol} symbol
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function symbolPath(ctx, symbol, x, y, size) {
  const half = size / 2;
  if (symbol === "cross") {
    ctx.moveTo(x - half, y - half);
    ctx.lineTo(x + half, y + half);
    ctx.moveTo(x - half, y + half);
    ctx.lineTo(x + half, y - half);
  } else if (symbol === "bar") {
    ctx.moveTo(x, y - half);
    ctx.lineTo(x, y + half);
  } else if (symbol === "diamond") {
    ctx.moveTo(x, y - half);
    ctx.lineTo(x + half, y);
    ctx.lineTo(x, y + half);
    ctx.lineTo(x - half, y);
    ctx.closePath();
  } else {
    ctx.moveTo(x + half, y);
    ctx.arc(x, y, half, 0, 7);
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Area} area @param {Points} mark @param {boolean} isDark */
function drawPoints(ctx, area, mark, isDark) {
  const x = xPlaces(area, mark.x);
  const y = yPlaces(area, mark.y);
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (let i = 0; i < x.length; i++) {
    if (!(x[i] + y[i] - (x[i] + y[i]) === 0)) continue;
    const look = mark.shades ? shadeColour(mark.shades[i], isDark) : colour(mark.role, isDark);
    if (!look) continue;
    const group = groups.get(look);
    if (group) group.push(i);
    else groups.set(look, [i]);
  }
  const isFilled = mark.symbol === "circle" || mark.symbol === "diamond";
  ctx.globalAlpha = !mark.shades && x.length > 1000 ? 0.55 : 1;
  ctx.lineWidth = 1.8;
  for (const [look, rows] of groups) {
    ctx.fillStyle = ctx.strokeStyle = look;
    ctx.beginPath();
    for (const i of rows) symbolPath(ctx, mark.symbol, x[i], y[i], mark.size);
    if (isFilled) ctx.fill();
    else ctx.stroke();
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Area} area @param {Line} mark @param {boolean} isDark */
function drawLine(ctx, area, mark, isDark) {
  ctx.strokeStyle = mark.shade == null ? colour(mark.role, isDark) : shadeColour(mark.shade, isDark);
  ctx.lineWidth = mark.width;
  ctx.globalAlpha = mark.opacity;
  ctx.lineJoin = "round";
  ctx.setLineDash(mark.is_dashed ? [5, 4] : []);
  ctx.beginPath();
  tracePath(ctx, xPlaces(area, mark.x), yPlaces(area, mark.y), mark.is_step);
  ctx.stroke();
}

/**
 * A path through places, broken at NaN; places closer than half a pixel are left out.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Float32Array} x
 * @param {Float32Array} y
 * @param {boolean} isStep
 */
export function tracePath(ctx, x, y, isStep) {
  let isOpen = false;
  let lastX = 0;
  let lastY = 0;
  for (let i = 0; i < x.length; i++) {
    if (!(x[i] + y[i] - (x[i] + y[i]) === 0)) {
      isOpen = false;
      continue;
    }
    if (!isOpen) ctx.moveTo(x[i], y[i]);
    else if (Math.abs(x[i] - lastX) < 0.4 && Math.abs(y[i] - lastY) < 0.4) continue;
    else {
      if (isStep) ctx.lineTo(x[i], lastY);
      ctx.lineTo(x[i], y[i]);
    }
    isOpen = true;
    lastX = x[i];
    lastY = y[i];
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Area} area @param {Band} mark @param {boolean} isDark */
function drawBand(ctx, area, mark, isDark) {
  const x = xPlaces(area, mark.x);
  const low = yPlaces(area, mark.low);
  const high = yPlaces(area, mark.high);
  const shown = [...x.keys()].filter((i) => Number.isFinite(x[i] + low[i] + high[i]));
  ctx.fillStyle = colour(mark.role, isDark);
  ctx.globalAlpha = 0.18;
  ctx.beginPath();
  for (const i of shown) ctx.lineTo(x[i], low[i]);
  for (const i of shown.reverse()) ctx.lineTo(x[i], high[i]);
  ctx.fill();
}

/**
 * The boxes of bars: x, y, width, height of each.
 * @param {Area} area
 * @param {Bars} mark
 * @returns {(i: number) => [number, number, number, number]}
 */
export function boxesOf(area, mark) {
  const flat = mark.is_horizontal;
  const [along, across] = flat ? [xPlaces, yPlaces] : [yPlaces, xPlaces];
  const at = Array.from(mark.at);
  const one = across(area, at.map((value) => value - mark.thickness / 2));
  const other = across(area, at.map((value) => value + mark.thickness / 2));
  const start = along(area, mark.start);
  const end = along(area, mark.end);
  return (i) => {
    // A bar too short to be seen is shown a pixel wide.
    const length = Math.max(Math.abs(end[i] - start[i]), 1);
    const thick = Math.max(Math.abs(other[i] - one[i]), 0.5);
    const begin = Math.min(start[i], end[i]);
    const edge = Math.min(one[i], other[i]);
    return flat ? [begin, edge, length, thick] : [edge, begin, thick, length];
  };
}

/** @param {CanvasRenderingContext2D} ctx @param {Area} area @param {Bars} mark @param {boolean} isDark */
function drawBars(ctx, area, mark, isDark) {
  const box = boxesOf(area, mark);
  ctx.fillStyle = colour(mark.role, isDark);
  for (let i = 0; i < mark.at.length; i++) ctx.fillRect(...box(i));
  if (!mark.error_low || !mark.error_high) return;
  const [along, across] = mark.is_horizontal ? [xPlaces, yPlaces] : [yPlaces, xPlaces];
  const low = along(area, mark.error_low);
  const high = along(area, mark.error_high);
  const at = across(area, mark.at);
  ctx.strokeStyle = colour("cutoff", isDark);
  ctx.beginPath();
  const go = (/** @type {number} */ a, /** @type {number} */ b, /** @type {boolean} */ isMove) => {
    if (isMove) ctx.moveTo(...(mark.is_horizontal ? /** @type {const} */ ([a, b]) : /** @type {const} */ ([b, a])));
    else ctx.lineTo(...(mark.is_horizontal ? /** @type {const} */ ([a, b]) : /** @type {const} */ ([b, a])));
  };
  for (let i = 0; i < at.length; i++) {
    if (!Number.isFinite(low[i] + high[i] + at[i])) continue;
    go(low[i], at[i] - 3, true);
    go(low[i], at[i] + 3, false);
    go(low[i], at[i], true);
    go(high[i], at[i], false);
    go(high[i], at[i] - 3, true);
    go(high[i], at[i] + 3, false);
  }
  ctx.stroke();
}

/** @param {CanvasRenderingContext2D} ctx @param {Area} area @param {Cells} mark @param {boolean} isDark */
function drawCells(ctx, area, mark, isDark) {
  // Whole pixels: cells share their edges without seams.
  const x = xPlaces(area, mark.x_edges).map(Math.round);
  const y = yPlaces(area, mark.y_edges).map(Math.round);
  const columns = x.length - 1;
  for (let row = 0; row < y.length - 1; row++) {
    for (let column = 0; column < columns; column++) {
      const look = shadeColour(mark.shades[row * columns + column], isDark);
      if (!look) continue;
      ctx.fillStyle = look;
      ctx.fillRect(x[column], y[row], x[column + 1] - x[column], y[row + 1] - y[row]);
    }
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Area} area @param {Texts} mark @param {boolean} isDark */
function drawTexts(ctx, area, mark, isDark) {
  const x = xPlaces(area, mark.x);
  const y = yPlaces(area, mark.y);
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = mark.anchor === "middle" ? "center" : mark.anchor;
  ctx.lineJoin = "round";
  ctx.lineWidth = 3;
  const unit = mark.room ? Math.abs(xPlaces(area, [0, mark.room]).reduce((a, b) => b - a, 0)) : 0;
  for (let i = 0; i < x.length; i++) {
    if (!Number.isFinite(x[i] + y[i])) continue;
    const [px, py] = [x[i] + mark.dx, y[i] - mark.dy];
    const before = px - area.left;
    const after = area.left + area.width - px;
    let room = { start: after, end: before, middle: 2 * Math.min(before, after) }[mark.anchor];
    if (mark.room) room = Math.min(room, unit - 6);
    const label = fitted(mark.texts[i], Math.max(room, 30), (text) => ctx.measureText(text).width);
    const over = mark.anchor === "start" ? Math.max(0, ctx.measureText(label).width - after) : 0; // 4 letters are shown whole
    ctx.strokeStyle = colour("page", isDark);
    ctx.strokeText(label, px - over, py);
    ctx.fillStyle = colour("ink", isDark);
    ctx.fillText(label, px - over, py);
  }
}
