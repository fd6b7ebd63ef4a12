/** Several experiments: the best value so far of each in one figure, and a table of facts. */

import { html, useState } from "../html.js";
import { duration, text } from "../format.js";
import { t } from "../i18n.js";
import { experiment, route, setQuery, source } from "../state.js";
import { Curves, curvesSummary } from "../plots/curves.js";
import { Figure } from "../ui/figure.js";
import { ErrorNote, Spinner } from "../ui/notes.js";
import { DataTable } from "../ui/table.js";
import { CurveLegend } from "./curve_parts.js";
import { useAnswer } from "./answers.js";
import { format } from "../router.js";

/** @typedef {import("../data/source.js").Source} Source */

/**
 * @typedef {{id: string, name: string, n_trials: number, n_values: number, best: number | null, best_trial: string | null,
 *   best_params: Record<string, any>, quantiles: (number | null)[], seconds: number, clock: number,
 *   by_trial: {x: number[], y: (number | null)[]}, by_clock: {x: number[], y: (number | null)[]}}} Compared
 */

const MOST = 40;

export function CompareExperiments() {
  const named = (route.value.query.experiments ?? "").split(",").filter(Boolean);
  const ids = named.length > 0 ? named : [experiment.value];
  const list = useAnswer(() => /** @type {Source} */ (source.value).experiments(), "experiments", "");
  const { data, error, reload } = useAnswer(() => /** @type {Source} */ (source.value).compare(ids), ids.join(), "");
  /** @param {string} id */
  function toggle(id) {
    const next = ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id].slice(-MOST);
    setQuery({ experiments: next.join(",") });
  }
  /** @type {{id: string, name?: string}[]} */
  const all = list.data?.experiments ?? [];
  return html`<section class="panel"><fieldset class="experiment-choice"><legend>${t("tables.experiments_chosen", { n: ids.length })}</legend>
      ${all.map(({ id, name }) => html`<label class="check" key=${id}><input type="checkbox" checked=${ids.includes(id)}
        onChange=${() => toggle(id)} /><bdi class="cut">${name ?? id}</bdi></label>`)}</fieldset></section>
    ${error && html`<${ErrorNote} title=${t("tables.not_comparable")} error=${error} onRetry=${reload} />`}
    ${!data && !error && html`<${Spinner} />`}
    ${data && html`<${BestSoFar} compared=${data.experiments} metric=${data.metric} mode=${data.mode} />
      <${Facts} compared=${data.experiments} metric=${data.metric} mode=${data.mode} params=${data.params} />`}`;
}

/** @param {{compared: Compared[], metric: string, mode: string}} props */
function BestSoFar({ compared, metric }) {
  const [axis, setAxis] = useState(/** @type {"by_trial" | "by_clock"} */ ("by_trial"));
  const series = compared.map((one, i) => ({ id: one.name, row: i, segments: [{ attempt: 0, changes: {}, source: null, t: one[axis].x, value: one[axis].y, time: one[axis].x }] }));
  const controls = html`<label class="choice">${t("tables.over")}
    <select value=${axis} onChange=${(/** @type {any} */ event) => setAxis(event.target.value)}>
      <option value="by_trial">${t("tables.over_trials")}</option><option value="by_clock">${t("tables.over_seconds")}</option></select></label>`;
  const title = t("tables.best_so_far", { metric });
  return html`<section class="panel"><${Figure} title=${title} summary=${curvesSummary(/** @type {any} */ (series), metric)} controls=${controls}
    table=${() => stepTable(compared, axis)} note=${html`<${CurveLegend} labels=${compared.map(({ name }) => name)} />`}><${Curves} series=${series} metric=${metric} height=${320} isStepped=${true}
      xLabel=${t(axis === "by_trial" ? "tables.trials" : "tables.over_seconds")} /></></section>`;
}

/**
 * @param {Compared[]} compared
 * @param {"by_trial" | "by_clock"} axis
 */
function stepTable(compared, axis) {
  const rows = compared.flatMap((one) => one[axis].x.map((x, i) => ({ name: one.name, x, y: one[axis].y[i] })));
  const columns = [
    { label: t("tables.experiment"), key: "name" },
    { label: t(axis === "by_trial" ? "tables.trials" : "tables.seconds"), isNumber: true, cell: (/** @type {any} */ row) => text(row.x, false) },
    { label: t("tables.best"), isNumber: true, cell: (/** @type {any} */ row) => text(row.y, false) },
  ]; // prettier-ignore
  return { columns, rows };
}

/** @param {{compared: Compared[], metric: string, mode: string, params: string[]}} props */
function Facts({ compared, metric, mode, params }) {
  const values = compared.flatMap(({ best }) => best ?? []);
  const winner = values.length > 0 ? (mode === "max" ? Math.max(...values) : Math.min(...values)) : null;
  const columns = [
    { label: t("tables.experiment"), sortBy: (/** @type {Compared} */ one) => one.name, cell: (/** @type {Compared} */ one) => html`<a href=${format({ experiment: one.id, view: "overview" })}><bdi>${one.name}</bdi></a>` },
    { label: t("tables.best_of", { metric }), isNumber: true, sortBy: (/** @type {Compared} */ one) => one.best, cell: (/** @type {Compared} */ one) => html`${text(one.best, false) || "–"}${one.best !== null && one.best === winner && html`<span class="best-mark" title=${t("tables.best")}> ★</span>`}` },
    { label: t("tables.best_trial"), cell: (/** @type {Compared} */ one) => one.best_trial && html`<a href=${format({ experiment: one.id, view: "trial", trial: one.best_trial })}><bdi>${one.best_trial}</bdi></a>` },
    { label: t("tables.median"), isNumber: true, sortBy: (/** @type {Compared} */ one) => one.quantiles[2], cell: (/** @type {Compared} */ one) => text(one.quantiles[2], false) || "–" },
    { label: t("tables.trials"), isNumber: true, sortBy: (/** @type {Compared} */ one) => one.n_trials, cell: (/** @type {Compared} */ one) => one.n_trials },
    { label: t("tables.fact_duration"), isNumber: true, sortBy: (/** @type {Compared} */ one) => one.clock, cell: (/** @type {Compared} */ one) => duration(one.clock) },
    { label: t("tables.all_time"), isNumber: true, sortBy: (/** @type {Compared} */ one) => one.seconds, cell: (/** @type {Compared} */ one) => duration(one.seconds) },
    ...params.map((name) => ({ label: html`<bdi>${name}</bdi>`, isNumber: true, cell: (/** @type {Compared} */ one) => html`<bdi class="mono">${text(one.best_params[name]) || "–"}</bdi>` })),
  ]; // prettier-ignore
  return html`<section class="panel"><h2>${t("tables.experiments")}</h2><${DataTable} caption=${t("tables.experiments")} columns=${columns} rows=${compared} rowKey=${(/** @type {Compared} */ one) => one.id} />
    <p class="faint small">${t("tables.params_of_best")}</p></section>`;
}
