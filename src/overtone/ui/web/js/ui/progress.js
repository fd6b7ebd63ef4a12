/** The trials of an experiment as one bar: each state by its colour, in a fixed order, with its word below. */
import { html } from "../html.js";
import { count } from "../format.js";
import { t } from "../i18n.js";
import { BADGES, STATES } from "../data/counts.js";
import { StateMark } from "./badge.js";

/** @typedef {Record<import("../data/counts.js").StateName, number>} Counts */

/** @param {{counts: Counts, planned: number | null, label: string, small?: boolean}} props */
export function ProgressBar({ counts, planned, label, small = false }) {
  const known = STATES.reduce((sum, name) => sum + counts[name], 0);
  const whole = Math.max(planned ?? 0, known, 1);
  return html`<div class=${`progress${small ? " progress-small" : ""}`} role="img" aria-label=${label}>
    ${STATES.map((name) => counts[name] > 0 && html`<span key=${name} class=${`progress-part progress-${name}`}
      style=${{ width: `${(100 * counts[name]) / whole}%` }} />`)}
  </div>`;
}

/** @param {{counts: Counts, href?: (name: string) => string}} props The counts in words. */
export function CountList({ counts, href }) {
  const shown = STATES.filter((name) => counts[name] > 0);
  return html`<ul class="count-list">${shown.map((name) => {
    const content = html`<${StateMark} state=${BADGES[name]} /><strong>${count(counts[name])}</strong> ${t(`shell.state_${BADGES[name]}`)}`;
    return html`<li key=${name}>${href ? html`<a class="count-link" href=${href(name)}>${content}</a>` : html`<span class="count-link">${content}</span>`}</li>`;
  })}</ul>`;
}
