/** The frame of a plotting area on a canvas: grid, ticks, titles. */

import { colour } from "./palette.js";
import { fitted } from "./labels.js";
import { fewer, ticksOf } from "./ticks.js";

/**
 * @typedef {import("./scales.js").Scale} Scale
 * @typedef {{left: number, top: number, width: number, height: number}} Box
 * @typedef {Box & {x: Scale, y: Scale, xTicks: import("./ticks.js").Tick[], yTicks: import("./ticks.js").Tick[],
 *   isTurned: boolean, below: number, outer: number}} Area
 */

export const FONT = "12px system-ui, sans-serif";
const LINE = 16;
const TURN = (55 * Math.PI) / 180;

/**
 * Places an area of `height` between its labels; `outer` is its left edge with labels, `below` the height
 * of the labels under it.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Scale} x
 * @param {Scale} y
 * @param {Box} box  The place with labels; `height` without those below.
 * @returns {Area}
 */
export function areaOf(ctx, x, y, box) {
  ctx.font = FONT;
  const measure = (/** @type {string} */ text) => ctx.measureText(text).width;
  const isListed = y.axis.scale === "category" || !!y.axis.ticks?.length;
  const yTicks = fewer(ticksOf(y, box.height * 1.6), box.height, LINE).map((tick) => ({
    ...tick,
    label: fitted(tick.label, box.width * (isListed ? 0.4 : 0.3), measure),
  }));
  const widest = Math.max(0, ...yTicks.map((tick) => measure(tick.label)));
  const beside = y.axis.is_hidden ? 4 : widest + 8 + (y.axis.title ? 18 : 0);
  const width = Math.max(60, box.width - beside - 8);
  let xTicks = ticksOf(x, width);
  const widths = xTicks.map((tick) => measure(tick.label));
  const each = width / Math.max(1, xTicks.length);
  const isNamed = x.axis.scale === "category" || !!x.axis.ticks?.length;
  const isTurned = isNamed && xTicks.length > 1 && Math.max(0, ...widths) > each - 4;
  let below = LINE + 4;
  if (isTurned) {
    xTicks = fewer(xTicks, width, 14).map((tick) => ({
      ...tick,
      label: fitted(tick.label, Math.min(130, (beside + tick.share * width) / Math.cos(TURN)), measure),
    }));
    below = Math.max(0, ...xTicks.map((tick) => measure(tick.label))) * Math.sin(TURN) + 14;
  } else {
    if (!isNamed) xTicks = fewer(xTicks, width, Math.max(0, ...widths) + 12);
    xTicks = xTicks.map((tick) => ({ ...tick, label: fitted(tick.label, Math.max(each, 60), measure) }));
  }
  below = x.axis.is_hidden ? 8 : below + (x.axis.title ? 18 : 0) + 4;
  return {
    left: box.left + beside, top: box.top, width, height: box.height, outer: box.left,
    x, y, xTicks, yTicks, isTurned, below,
  };
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Area} area
 * @param {boolean} isDark
 */
export function drawAxes(ctx, area, isDark) {
  const { left, top, width, height, x, y } = area;
  const bottom = top + height;
  const measure = (/** @type {string} */ text) => ctx.measureText(text).width;
  ctx.font = FONT;
  ctx.lineWidth = 1;
  ctx.strokeStyle = colour("grid", isDark);
  ctx.fillStyle = colour("faint", isDark);
  ctx.beginPath();
  if (!y.axis.is_hidden) {
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const { share, label } of area.yTicks) {
      const at = Math.round(bottom - share * height) + 0.5;
      if (y.axis.scale !== "category") {
        ctx.moveTo(left, at);
        ctx.lineTo(left + width, at);
      }
      ctx.fillText(label, left - 6, at);
    }
    if (y.axis.title) {
      ctx.save();
      ctx.translate(area.outer + 8, top + height / 2);
      ctx.rotate(-Math.PI / 2);
      ctx.textAlign = "center";
      ctx.fillStyle = colour("ink", isDark);
      ctx.fillText(fitted(y.axis.title, height, measure), 0, 0);
      ctx.restore();
    }
  }
  if (!x.axis.is_hidden) {
    ctx.textBaseline = "alphabetic";
    for (const { share, label } of area.xTicks) {
      const at = Math.round(left + share * width) + 0.5;
      ctx.moveTo(at, top);
      ctx.lineTo(at, bottom);
      if (area.isTurned) {
        ctx.save();
        ctx.translate(at + 3, bottom + 12);
        ctx.rotate(-TURN);
        ctx.textAlign = "right";
        ctx.fillText(label, 0, 0);
        ctx.restore();
      } else {
        // The outermost labels stay on the canvas.
        const half = measure(label) / 2;
        ctx.textAlign = "center";
        ctx.fillText(label, Math.max(area.outer + half, Math.min(at, left + width + 8 - half)), bottom + LINE);
      }
    }
    if (x.axis.title) {
      ctx.textAlign = "center";
      ctx.fillStyle = colour("ink", isDark);
      const title = fitted(x.axis.title, width + Math.min(left - area.outer, 60), measure);
      ctx.fillText(title, Math.max(area.outer + measure(title) / 2, left + width / 2), bottom + area.below - 8);
    }
  }
  ctx.stroke();
  if (!x.axis.is_hidden) {
    ctx.strokeStyle = colour("faint", isDark);
    ctx.beginPath();
    ctx.moveTo(left, Math.round(bottom) + 0.5);
    ctx.lineTo(left + width, Math.round(bottom) + 0.5);
    ctx.stroke();
  }
}

/**
 * Draws inside of an area alone.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Box} area
 * @param {() => void} draw
 */
export function clipped(ctx, area, draw) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(area.left, area.top - 1, area.width + 1, area.height + 2);
  ctx.clip();
  draw();
  ctx.restore();
}
