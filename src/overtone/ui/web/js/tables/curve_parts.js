/** What the figures of learning curves share. */

import { html } from "../html.js";
import { text } from "../format.js";
import { t } from "../i18n.js";
import { Legend } from "../plots/legend.js";
import { N_SERIES } from "../plots/palette.js";
import { TrialName } from "./trial_text.js";

/**
 * Returns the values of curves as a table.
 * @param {any[]} series trials of an answer about curves
 * @param {string} metric
 */
export function curveTable(series, metric) {
  const rows = series.flatMap((one) => one.segments.flatMap((/** @type {any} */ part) =>
    part.t.map((/** @type {number} */ at, /** @type {number} */ i) => ({ id: one.id, t: at, value: part.value[i] })))); // prettier-ignore
  const columns = [
    ...(series.length > 1 ? [{ label: t("tables.trial"), cell: (/** @type {any} */ one) => html`<${TrialName} id=${one.id} />` }] : []),
    { label: t("tables.iteration"), isNumber: true, cell: (/** @type {any} */ one) => text(one.t) },
    { label: metric, isNumber: true, cell: (/** @type {any} */ one) => text(one.value, false) || "–" },
  ]; // prettier-ignore
  return { columns, rows };
}

/**
 * Returns the names of the metrics that have curves.
 * @param {import("../data/table.js").Table} now
 */
export function metricsOf(now) {
  const keys = [...now.columns.keys()].filter((key) => key.startsWith("metric:"));
  return keys.filter((key) => !(/:(min|max)$/u.test(key) && now.columns.has(key.slice(0, -4)))).map((key) => key.slice(7));
}

/**
 * The colours of several curves.
 * @param {{labels: string[]}} props
 */
export function CurveLegend({ labels }) {
  if (labels.length < 2) return null;
  const kind = (/** @type {number} */ i) => (i >= N_SERIES ? "dashes" : "line");
  return html`<${Legend} entries=${labels.map((label, i) => ({ label, role: `series${i % N_SERIES}`, kind: kind(i) }))} />`;
}
