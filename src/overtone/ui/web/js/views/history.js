/** How values went on: of all trials in their order, and of some trials over their iterations. */
import { html, useEffect, useMemo, useState } from "../html.js";
import { t } from "../i18n.js";
import { Curves, curvesSummary } from "../plots/curves.js";
import { GoalChoice, metricNow } from "../plots/choices.js";
import { HistoryPlot } from "../plots/history.js";
import { SceneFigure } from "../plots/scene_figure.js";
import { PlotPage } from "../plots/page.js";
import { experiment, filter, go, goal, selected, source, table } from "../state.js";
import { CurveLegend, curveTable } from "../tables/curve_parts.js";
import { Figure } from "../ui/figure.js";
import { ErrorNote, Spinner } from "../ui/notes.js";

const MOST_CURVES = 50;
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
  const key = rows ? rows.join() : "";
  const [state, setState] = useState(/** @type {{key: string, trials: any[] | null, error: Error | null}} */ ({ key: "", trials: null, error: null }));
  useEffect(() => {
    if (!rows) return undefined;
    let isGone = false;
    const ids = rows.map((row) => table.value.ids[row]);
    /** @type {any} */ (source.value).curves(experiment.value, ids, metric).then(
      (/** @type {any} */ answer) => isGone || setState({ key, trials: answer.trials, error: null }),
      (/** @type {Error} */ error) => isGone || setState({ key, trials: null, error }),
    );
    return () => void (isGone = true);
  }, [key, metric, experiment.value]);
  const options = useMemo(() => ({ metric, max_curves: MOST_BEHIND }), [metric]);
  if (!rows) return html`<${SceneFigure} name="learning_curves" options=${options} says=${() => html`<p class="plot-says faint">${t("plots.curves_hint")}</p>`} />`;
  const series = state.key === key ? (state.trials ?? []).filter((curve) => curve.segments.length) : null;
  return html`<${Figure} title=${t("plots.title_learning_curves")} summary=${series ? curvesSummary(series, metric) : ""}
      note=${series && series.length > 1 && series.length <= 16 ? html`<${CurveLegend} labels=${series.map((curve) => curve.id)} />` : ""}
      table=${series ? () => curveTable(series, metric) : undefined}>
    ${state.error ? html`<${ErrorNote} error=${state.error} />` : series
      ? html`<${Curves} series=${series} metric=${metric} height=${320} onPick=${(/** @type {any} */ curve) => go("trial", curve.id)} />`
      : html`<${Spinner} />`}
  </${Figure}>`;
}

/** @returns {number[] | null} */
function chosenRows() {
  if (selected.value.size) return [...selected.value].sort((a, b) => a - b);
  const { mask, count } = filter.value;
  if (!mask || !count || count > MOST_CURVES) return null;
  const rows = [];
  for (let row = 0; row < mask.length; row++) if (mask[row]) rows.push(row);
  return rows;
}
