/** How values went on: of all trials in their order, and of some trials over their iterations. */
import { html, useMemo } from "../html.js";
import { t } from "../i18n.js";
import { Curves, curvesSummary } from "../plots/curves.js";
import { GoalChoice, metricNow } from "../plots/choices.js";
import { HistoryPlot } from "../plots/history.js";
import { SceneFigure } from "../plots/scene_figure.js";
import { PlotPage } from "../plots/page.js";
import { experiment, filter, go, goal, selected, source, table } from "../state.js";
import { useAnswer } from "../tables/answers.js";
import { CurveLegend, curveTable } from "../tables/curve_parts.js";
import { Figure } from "../ui/figure.js";
import { ErrorNote, Spinner } from "../ui/notes.js";

const MOST_CURVES = 50;
const MOST_NAMED = 16;
const MOST_BEHIND = 300;

export function HistoryView() {
  return html`<${PlotPage} view="history">
    <div class="panel"><${HistoryPlot} table=${table.value} goal=${goal.value} height=${360} controls=${html`<${GoalChoice} />`} /></div>
    <div class="panel"><${LearningCurves} /></div>
  </${PlotPage}>`;
}

/** The curves of the trials that were chosen or filtered, if they are few; else of the best ones and the spread of all. */
function LearningCurves() {
  const metric = metricNow() ?? "";
  const rows = chosenRows();
  const options = useMemo(() => ({ metric, max_curves: MOST_BEHIND }), [metric]);
  return rows ? html`<${ExactCurves} rows=${rows} metric=${metric} />`
    : html`<${SceneFigure} name="learning_curves" options=${options} says=${() => html`<p class="plot-says faint">${t("plots.curves_hint")}</p>`} />`;
}

/** @param {{rows: number[], metric: string}} props */
function ExactCurves({ rows, metric }) {
  const now = table.value;
  const ids = rows.map((row) => now.ids[row]);
  const news = rows.map((row) => now.column("fact:n_results")?.values[row]).join();
  const ask = () => /** @type {any} */ (source.value).curves(experiment.value, ids, metric);
  const { data, error, reload } = useAnswer(ask, `${experiment.value} ${ids} ${metric}`, news);
  const answer = /** @type {any} */ (data);
  const series = useMemo(() => answer?.trials.filter((/** @type {any} */ curve) => curve.segments.length), [answer]);
  return html`<${Figure} title=${t("plots.title_learning_curves")} summary=${series ? curvesSummary(series, metric) : ""}
      note=${series && series.length > 1 && series.length <= MOST_NAMED ? html`<${CurveLegend} labels=${series.map((/** @type {any} */ curve) => curve.id)} />` : ""}
      table=${series ? () => curveTable(series, metric) : undefined}>
    ${series
      ? html`<${Curves} series=${series} metric=${metric} height=${320} onPick=${(/** @type {any} */ curve) => go("trial", curve.id)} />`
      : error ? html`<${ErrorNote} error=${error} onRetry=${reload} />` : html`<${Spinner} />`}
  </${Figure}>`;
}

/** @returns {number[] | null} */
function chosenRows() {
  if (selected.value.size) return [...selected.value].sort((a, b) => a - b);
  const { mask, count } = filter.value;
  const { length } = table.value;
  if (mask ? !count || count > MOST_CURVES : length > MOST_NAMED) return null;
  const rows = [];
  for (let row = 0; row < length; row++) if (!mask || mask[row]) rows.push(row);
  return rows;
}
