/** Parallel coordinates, whose brushes filter the trials of all views. */
import { html } from "../html.js";
import { number } from "../format.js";
import { t } from "../i18n.js";
import { FilterNote, GoalChoice } from "../plots/choices.js";
import { ColourBar } from "../plots/legend.js";
import { Parallel, useParallelFacts } from "../plots/parallel.js";
import { PlotPage } from "../plots/page.js";
import { cellText, countReported } from "../plots/trials.js";
import { filter, goal, table } from "../state.js";
import { Figure } from "../ui/figure.js";
import { Empty, Spinner } from "../ui/notes.js";

const MOST_ROWS = 500;

export function ParallelView() {
  return html`<${PlotPage} view="parallel"><${Axes} /></${PlotPage}>`;
}

function Axes() {
  const now = table.value;
  const facts = useParallelFacts(now, goal.value);
  if (!facts) return html`<div class="panel"><${Figure} title=${t("plots.title_parallel")} summary=""><${Spinner} /></${Figure}></div>`;
  const { metric, axes, ranked } = facts;
  const { mask } = filter.value;
  if (axes.length < 2 || !ranked.length) {
    const title = t(axes.length < 2 ? "plots.no_params" : "plots.no_values", { metric });
    return html`<div class="panel"><${Figure} title=${t("plots.title_parallel")} summary=${title}><${Empty} title=${title} /></${Figure}></div>`;
  }
  const best = ranked[0];
  const column = /** @type {any} */ (now.column(`metric:${metric}`));
  const summary = t("plots.parallel_summary", { n: ranked.length, axes: axes.length, metric, best: cellText(column, best), trial: now.ids[best] });
  const worst = ranked[ranked.length - 1];
  const rows = mask ? ranked.filter((row) => mask[row] === 1) : ranked;
  const notes = [];
  const nReported = countReported(now);
  if (nReported > ranked.length) notes.push(t("plots.without_value", { n: nReported - ranked.length }));
  if (facts.nAxes > axes.length) notes.push(t("plots.some_axes", { n: axes.length, all: facts.nAxes }));
  return html`<div class="panel"><${Figure} title=${t("plots.title_parallel")} summary=${summary} note=${notes.join(" ")}
      controls=${html`<${GoalChoice} />`} table=${() => parallelTable(facts, rows)}>
    <${FilterNote} hint=${t("plots.brush_hint")} />
    <${ColourBar} bar=${{ title: t("plots.rank_by", { metric }), low: `${t("plots.worst")} (${number(column.values[worst])})`, high: `${t("plots.best")} (${number(column.values[best])})` }} />
    <div class="plot-scroll"><${Parallel} table=${now} facts=${facts} label=${summary} /></div>
  </${Figure}></div>`;
  /**
   * @param {import("../plots/parallel.js").Facts} shown
   * @param {Uint32Array} chosen
   */
  function parallelTable(shown, chosen) {
    const columns = shown.axes.map((axis) => now.column(axis.key));
    return {
      columns: [{ label: t("plots.trial"), key: "id" }, ...shown.axes.map((axis) => ({ label: axis.name, key: axis.key, isNumber: !axis.levels }))],
      rows: [...chosen.subarray(0, MOST_ROWS)].map((row) => ({
        id: now.ids[row], ...Object.fromEntries(columns.flatMap((one) => (one ? [[one.key, cellText(one, row)]] : []))),
      })),
    };
  }
}
