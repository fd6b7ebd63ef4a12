/** How much of a machine's part was in use over time: an area from 0 to 100 %. */

import { html } from "../html.js";

const [WIDTH, HEIGHT] = [160, 36];

/** @param {{parts: (number | null)[], label: string}} props parts from 0 to 1; null where nothing is known */
export function UsageChart({ parts, label }) {
  if (parts.length === 1) parts = [parts[0], parts[0]]; // a level line
  const x = (/** @type {number} */ i) => ((WIDTH * i) / Math.max(1, parts.length - 1)).toFixed(1);
  const y = (/** @type {number} */ part) => ((HEIGHT - 1) * (1 - Math.max(0, Math.min(part, 1))) + 0.5).toFixed(1);
  let line = "";
  let area = "";
  let begin = -1;
  for (let i = 0; i <= parts.length; i += 1) {
    const part = parts[i] ?? null;
    if (part === null) {
      if (begin >= 0) area += `L${x(i - 1)} ${HEIGHT}L${x(begin)} ${HEIGHT}z`;
      begin = -1;
      continue;
    }
    const step = `${begin < 0 ? "M" : "L"}${x(i)} ${y(part)}`;
    line += begin < 0 ? `${step}h.01` : step;
    area += step;
    if (begin < 0) begin = i;
  }
  return html`<svg class="usage" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${label}>
    <path class="usage-area" d=${area} /><path class="usage-line" d=${line} /></svg>`;
}
