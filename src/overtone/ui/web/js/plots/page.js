/** The frame of a view of plots. */

import { html } from "../html.js";
import { t } from "../i18n.js";

/** @param {{view: string, children?: any}} props  `view` is its word in the address. */
export function PlotPage({ view, children }) {
  return html`<div class="plot-page"><h1 class="hidden-text">${t(`shell.view_${view}`)}</h1>${children}</div>`;
}
