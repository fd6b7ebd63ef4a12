/** Legends and the key of the sequential colours, as elements of the page. */

import { html } from "../html.js";
import { isDark } from "../state.js";
import { colour, SHADES } from "./palette.js";

/**
 * @typedef {{label: string, role: string, kind: string, onToggle?: () => void, isOff?: boolean}} Entry
 */

/**
 * The labelled marks of a scene, each label once, in the order of drawing.
 * @param {import("./resolve.js").Scene} scene
 * @returns {Entry[]}
 */
export function legendOf(scene) {
  /** @type {Map<string, Entry>} */
  const found = new Map();
  for (const mark of scene.panels.flatMap((panel) => panel.marks)) {
    if (mark.type === "Cells" || mark.type === "Texts" || !mark.label || found.has(mark.label)) continue;
    let kind = "area";
    if (mark.type === "Points") kind = mark.symbol;
    else if (mark.type === "Band") kind = "band";
    else if (mark.type === "Line") kind = mark.is_dashed ? "dashes" : "line";
    found.set(mark.label, { label: mark.label, role: mark.role, kind });
  }
  return [...found.values()];
}

/** @type {Record<string, string>} */
const SHAPES = {
  line: "M0 5h18", dashes: "M0 5h5m4 0h5", cross: "M5 1l8 8m-8 0l8-8", bar: "M9 0v10", diamond: "M9 1l4 4l-4 4l-4-4Z",
  area: "M0 0h18v10h-18Z", band: "M0 0h18v10h-18Z", circle: "M9 1a4 4 0 1 0 .01 0Z", ring: "M9 1.5a3.5 3.5 0 1 0 .01 0Z",
};
const FILLED = new Set(["area", "band", "circle", "diamond"]);

/** @param {{entries: Entry[]}} props */
export function Legend({ entries }) {
  if (!entries.length) return null;
  return html`<ul class="plot-legend">${entries.map((entry) => {
    const look = colour(entry.role, isDark.value);
    const sample = html`<svg width="18" height="10" aria-hidden="true"><path d=${SHAPES[entry.kind] ?? SHAPES.circle}
      stroke=${look} stroke-width=${FILLED.has(entry.kind) ? 0 : 2} fill=${FILLED.has(entry.kind) ? look : "none"}
      opacity=${entry.kind === "band" ? 0.3 : 1} /></svg>`;
    return html`<li key=${entry.label}>${entry.onToggle
      ? html`<button type="button" class="plot-toggle" aria-pressed=${!entry.isOff} onClick=${entry.onToggle}>${sample} <bdi>${entry.label}</bdi></button>`
      : html`${sample} <bdi>${entry.label}</bdi>`}</li>`;
  })}</ul>`;
}

/** @param {{bar: {title: string, low: string, high: string}}} props */
export function ColourBar({ bar }) {
  return html`<p class="plot-bar"><bdi>${bar.title}</bdi> <span class="faint">${bar.low}</span>
    <span class="plot-bar-steps" aria-hidden="true">${SHADES.map((pair) => html`<i style=${{ background: pair[isDark.value ? 1 : 0] }} />`)}</span>
    <span class="faint">${bar.high}</span></p>`;
}
