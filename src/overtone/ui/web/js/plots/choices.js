/** Small choices above plots. */

import { html } from "../html.js";
import { t } from "../i18n.js";
import { filter, goal, table } from "../state.js";
import { setFilter } from "../tables/filter/live.js";
import { Button } from "../ui/button.js";

/**
 * @param {{label: string, options: [string | number, string][], value: string | number, onChange: (value: string) => void}} props
 */
export function Choice({ label, options, value, onChange }) {
  return html`<label class="plot-choice">${label} <select value=${value}
    onChange=${(/** @type {Event} */ event) => onChange(/** @type {HTMLSelectElement} */ (event.target).value)}>
    ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}</select></label>`;
}

/** The metric of the goal that is shown; undefined before one is known. */
export function metricNow() {
  table.value.version.value;
  return (table.value.goals[goal.value] ?? table.value.goals[0])?.[0];
}

/** Which of several goals the plots show. */
export function GoalChoice() {
  table.value.version.value;
  const { goals } = table.value;
  if (goals.length < 2) return null;
  return html`<${Choice} label=${t("plots.goal")} value=${goal.value} onChange=${(/** @type {string} */ value) => (goal.value = Number(value))}
    options=${goals.map(([metric], i) => [i, metric])} />`;
}

/**
 * Buttons of which one is pressed.
 * @param {{label: string, options: [string, string][], value: string, onChange: (value: string) => void}} props
 */
export function Switch({ label, options, value, onChange }) {
  return html`<div class="plot-switch" role="group" aria-label=${label}>${options.map(([key, text]) => html`
    <button type="button" key=${key} aria-pressed=${key === value} onClick=${() => onChange(key)}>${text}</button>`)}</div>`;
}

/** What the filter leaves, if there is one; else what can be done. @param {{hint?: any}} props */
export function FilterNote({ hint = null }) {
  const { mask, text, count } = filter.value;
  if (!mask) return hint && html`<p class="plot-says">${hint}</p>`;
  return html`<p class="plot-says"><strong>${t("plots.filtered", { n: count, all: table.value.length })}</strong>${" "}
    <code dir="auto">${text}</code> <${Button} small=${true} label=${t("plots.clear")} onClick=${() => setFilter("")} /></p>`;
}
