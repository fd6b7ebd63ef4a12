/** Any scene of analysis/scenes/ on the page: panels, legend, hover, keyboard. */

import { html, useMemo, useState } from "../html.js";
import { areaOf, drawAxes, FONT } from "./axes.js";
import { Chart, useFrame } from "./chart.js";
import { ColourBar, Legend, legendOf } from "./legend.js";
import { boxesOf, drawMark, extentsOf, xPlaces, yPlaces } from "./marks.js";
import { nearestIndex, nearestPoint, neighbour } from "./nearest.js";
import { colour } from "./palette.js";
import { extent, scaleOf } from "./scales.js";
import { table } from "../state.js";
import { trialLines } from "./trials.js";

/**
 * @typedef {import("./resolve.js").Scene} Scene
 * @typedef {import("./resolve.js").Panel} Panel
 * @typedef {import("./axes.js").Area} Area
 * @typedef {import("./chart.js").Spot} Spot
 * @typedef {{panel: Panel, area: Area, titleTop: number}} Placed
 */

const LEAST_PANEL = 240;
const GAP = 22;
const REACH = 14;

/**
 * @param {{scene: Scene, label?: string, onPick?: (spot: Spot) => void}} props
 */
export function SceneView({ scene, label, onPick }) {
  const [height, setHeight] = useState(300);
  const frame = useFrame(height, scene.least_width);
  const [spot, setSpot] = useState(/** @type {Spot | null} */ (null));
  const shown = useMemo(() => (frame.width ? layout(scene, frame.width) : null), [scene, frame.width]);
  const index = useMemo(() => shown && targetsOf(shown.panels, frame.width, shown.height), [shown]);
  if (shown && Math.abs(shown.height - height) > 0.5) setHeight(shown.height);
  const spotAt = (/** @type {number} */ i) => (index && i >= 0 ? index.spot(i) : null);
  const step = (/** @type {Spot | null} */ from, /** @type {string} */ key) => {
    if (!index?.x.length) return null;
    const at = from ? index.x.findIndex((x, i) => x === from.x && index.y[i] === from.y) : -1;
    return spotAt(at < 0 ? 0 : neighbour(index.x, index.y, at, key, (i) => index.x[i] === index.x[i]));
  };
  return html`<div class="scene">
    <${Legend} entries=${legendOf(scene)} />
    ${scene.colour_bar && html`<${ColourBar} bar=${scene.colour_bar} />`}
    <${Chart} frame=${frame} label=${label ?? scene.title} deps=${[shown]} spot=${spot} onSpot=${setSpot} onPick=${onPick}
      draw=${(/** @type {CanvasRenderingContext2D} */ ctx) => shown && draw(ctx, shown.panels, frame.dark)}
      find=${(/** @type {number} */ x, /** @type {number} */ y) => index && (spotAt(nearestPoint(index.nearest, x, y, REACH)) ?? index.inside(x, y))}
      step=${step} />
  </div>`;
}

/**
 * @param {Scene} scene
 * @param {number} width
 * @returns {{panels: Placed[], height: number}}
 */
function layout(scene, width) {
  const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const columns = Math.max(1, Math.min(scene.columns, scene.panels.length, Math.floor(width / LEAST_PANEL)));
  const each = (width - GAP * (columns - 1)) / columns;
  /** @type {Placed[]} */
  const panels = [];
  let top = 0;
  for (let i = 0; i < scene.panels.length; i += columns) {
    const row = scene.panels.slice(i, i + columns);
    const above = row.some((panel) => panel.title) ? 26 : 8;
    let tallest = 0;
    row.forEach((panel, j) => {
      const isTight = panel.marks.some((mark) => mark.type === "Cells");
      const scale = (/** @type {boolean} */ ofX) => {
        const axis = ofX ? panel.x : panel.y;
        const limits = extent(panel.marks.flatMap((mark) => extentsOf(mark, ofX)), axis.scale === "log");
        return scaleOf(axis, limits, isTight ? 0 : 0.04);
      };
      const box = { left: j * (each + GAP), top: top + above, width: each, height: panel.height };
      const area = areaOf(context, scale(true), scale(false), box);
      panels.push({ panel, area, titleTop: top });
      tallest = Math.max(tallest, panel.height + area.below);
    });
    top += above + tallest + 10;
  }
  return { panels, height: Math.ceil(Math.max(top, 1)) };
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Placed[]} panels
 * @param {boolean} isDark
 */
function draw(ctx, panels, isDark) {
  for (const { panel, area, titleTop } of panels) {
    if (panel.title) {
      ctx.font = `600 ${FONT}`;
      ctx.fillStyle = colour("ink", isDark);
      ctx.textAlign = "left";
      ctx.textBaseline = "alphabetic";
      ctx.fillText(panel.title, area.outer, titleTop + 14);
    }
    drawAxes(ctx, area, isDark);
    for (const mark of panel.marks) drawMark(ctx, area, mark, isDark);
  }
}

/**
 * All marks with a text: points and lines by their nearest place, bars and cells by their boxes.
 * @param {Placed[]} panels
 * @param {number} width
 * @param {number} height
 */
function targetsOf(panels, width, height) {
  /** @type {number[]} */
  const xs = [];
  /** @type {number[]} */
  const ys = [];
  /** @type {{text: string, row: number | undefined}[]} */
  const owners = [];
  /** @type {{box: [number, number, number, number], text: string, row: number | undefined}[]} */
  const boxes = [];
  for (const { panel, area } of panels) {
    for (const mark of panel.marks) {
      const hover = "hover" in mark ? mark.hover : "";
      const rows = "rows" in mark ? mark.rows : undefined;
      if (!hover.length && !rows) continue;
      if (mark.type === "Points" || mark.type === "Line") {
        const x = xPlaces(area, mark.x);
        const y = yPlaces(area, mark.y);
        for (let i = 0; i < x.length; i++) {
          if (!Number.isFinite(x[i] + y[i])) continue;
          xs.push(x[i]);
          ys.push(y[i]);
          owners.push(mark.type === "Line" ? { text: mark.hover, row: rowIn(mark.hover) } : { text: hover[i] ?? "", row: rows?.[i] });
        }
      } else if (mark.type === "Bars") {
        const boxOf = boxesOf(area, mark);
        for (let i = 0; i < mark.at.length; i++) {
          boxes.push({ box: boxOf(i), text: hover[i] ?? "", row: rows?.[i] });
        }
      } else if (mark.type === "Cells") {
        const x = xPlaces(area, mark.x_edges);
        const y = yPlaces(area, mark.y_edges);
        mark.hover.forEach((text, i) => {
          const [row, column] = [Math.floor(i / (x.length - 1)), i % (x.length - 1)];
          const box = /** @type {[number, number, number, number]} */ ([
            Math.min(x[column], x[column + 1]), Math.min(y[row], y[row + 1]),
            Math.abs(x[column + 1] - x[column]), Math.abs(y[row + 1] - y[row]),
          ]);
          if (text) boxes.push({ box, text, row: undefined });
        });
      }
    }
  }
  // The keyboard reaches bars and cells, too, by their middles.
  const n = xs.length;
  for (const { box, text, row } of boxes) {
    xs.push(box[0] + box[2] / 2);
    ys.push(box[1] + box[3] / 2);
    owners.push({ text, row });
  }
  const x = Float32Array.from(xs);
  const y = Float32Array.from(ys);
  const spot = (/** @type {number} */ i) => {
    const { text, row } = owners[i];
    const isOwn = row !== undefined && row < table.value.length;
    return { x: x[i], y: y[i], row, lines: () => [...(isOwn ? trialLines(table.value, row) : []), ...(isOwn && rowIn(text) === row ? [] : text ? text.split("\n") : [])] };
  };
  return {
    x, y, spot,
    nearest: nearestIndex(x.subarray(0, n), y.subarray(0, n), width, height),
    inside: (/** @type {number} */ px, /** @type {number} */ py) => {
      for (let i = boxes.length - 1; i >= 0; i--) {
        const [left, top, wide, high] = boxes[i].box;
        const slack = Math.max(0, (6 - high) / 2);
        if (px >= left && px <= left + wide && py >= top - slack && py <= top + high + slack) return spot(n + i);
      }
      return null;
    },
  };
}

/**
 * The row of the trial that a text of scenes/common.py is about.
 * @param {string} text
 */
function rowIn(text) {
  const found = / \(number (\d+)(?:, \w+)?\)$/.exec(text.split("\n", 1)[0]);
  return found ? Number(found[1]) : undefined;
}
