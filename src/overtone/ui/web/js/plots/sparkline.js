/** A line of a few pixels beside a number. */

import { html } from "../html.js";
import { isDark } from "../state.js";
import { colour } from "./palette.js";
import { extent } from "./scales.js";

/**
 * @param {{values: ArrayLike<number | null>, width?: number, height?: number, label?: string, role?: string}} props
 */
export function Sparkline({ values, width = 96, height = 24, label = "", role = "trial" }) {
  const numbers = Array.from(values, (value) => value ?? NaN);
  const limits = extent([numbers], false);
  if (!limits) return null;
  const [low, high] = limits;
  const span = high / 2 - low / 2;
  let path = "";
  let isOpen = false;
  numbers.forEach((value, i) => {
    if (!Number.isFinite(value)) {
      isOpen = false;
      return;
    }
    const x = 2 + ((width - 4) * i) / Math.max(1, numbers.length - 1);
    const y = 2 + (height - 4) * (span > 0 ? 1 - (value / 2 - low / 2) / span : 0.5);
    path += `${isOpen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}${isOpen ? "" : "h.01"}`;
    isOpen = true;
  });
  return html`<svg class="sparkline" width=${width} height=${height} role="img" aria-label=${label}>
    <path d=${path} fill="none" stroke=${colour(role, isDark.value)} stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" /></svg>`;
}
