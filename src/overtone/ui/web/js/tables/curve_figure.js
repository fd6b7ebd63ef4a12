/** Learning curves of some trials in one figure, by a metric that the reader chooses. */

import { html, useState } from "../html.js";
import { t } from "../i18n.js";
import { Curves, curvesSummary } from "../plots/curves.js";
import { experiment, go, source, table } from "../state.js";
import { Figure } from "../ui/figure.js";
import { ErrorNote, Spinner } from "../ui/notes.js";
import { useAnswer } from "./answers.js";
import { CurveLegend, curveTable, metricsOf } from "./curve_parts.js";

/**
 * @param {{ids: string[], goal: string | null, news: string, title: (metric: string) => string,
 *   label: (id: string) => string, height: number}} props `news` changes when the curves have grown
 */
export function CurveFigure({ ids, goal, news, title, label, height }) {
  const [chosen, setChosen] = useState(/** @type {string | null} */ (null));
  const metrics = metricsOf(table.value);
  const metric = chosen ?? goal ?? metrics[0] ?? "";
  const ask = () => /** @type {import("../data/source.js").Source} */ (source.value).curves(experiment.value, ids, metric);
  const { data, error, reload } = useAnswer(ask, `${experiment.value} ${ids} ${metric}`, news);
  /** @type {any[]} */
  const series = data?.trials ?? [];
  const controls = metrics.length > 1 && html`<label class="choice"><span class="hidden-text">${t("tables.metric")}</span>
    <select value=${metric} onChange=${(/** @type {any} */ event) => setChosen(event.target.value)}>
      ${metrics.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select></label>`;
  return html`<section class="panel"><${Figure} title=${title(metric)} summary=${curvesSummary(series, metric)} controls=${controls}
    table=${() => curveTable(series, metric)} note=${html`<${CurveLegend} labels=${series.map(({ id }) => label(id))} />`}>
    ${error
      ? html`<${ErrorNote} error=${error} onRetry=${reload} />`
      : data
        ? html`<${Curves} series=${series} metric=${metric} height=${height} onPick=${(/** @type {any} */ one) => go("trial", one.id)} />`
        : html`<${Spinner} />`}</></section>`;
}
