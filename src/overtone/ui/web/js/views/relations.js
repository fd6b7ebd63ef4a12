/** How values and hyperparameters go together: slice, contour, Pareto front and more. */
import { html, useMemo, useState } from "../html.js";
import { number } from "../format.js";
import { t } from "../i18n.js";
import { brushTo } from "../plots/brush.js";
import { Choice, FilterNote, GoalChoice, metricNow, Switch } from "../plots/choices.js";
import { goalTitle } from "../plots/history.js";
import { extent, spansDecades } from "../plots/scales.js";
import { Scatter } from "../plots/scatter.js";
import { SceneFigure } from "../plots/scene_figure.js";
import { cellText, codesOf, goalValues, paramsOf } from "../plots/trials.js";
import { PlotPage } from "../plots/page.js";
import { go, goal, route, setQuery, table } from "../state.js";
import { Figure } from "../ui/figure.js";
import { Empty } from "../ui/notes.js";

export function RelationsView() {
  table.value.version.value;
  const n = table.value.goals.length;
  const kinds = ["slice", "contour", ...(n > 1 ? ["pareto_front", "hypervolume_history"] : []), "edf", "rank"];
  const { plot } = route.value.query;
  const kind = kinds.includes(plot) ? plot : n > 1 ? "pareto_front" : "slice";
  return html`<${PlotPage} view="relations">
    <${Switch} label=${t("plots.kind")} value=${kind} onChange=${(/** @type {string} */ value) => setQuery({ plot: value })}
      options=${kinds.map((one) => [one, t(`plots.tab_${one}`)])} />
    <div class="panel">${kind === "slice" ? html`<${Slice} />` : html`<${Relation} key=${kind} kind=${kind} />`}</div>
  </${PlotPage}>`;
}

/** @param {{kind: string}} props */
function Relation({ kind }) {
  const metric = metricNow();
  const params = paramsOf(table.value).map((column) => column.name);
  const { x, y } = route.value.query;
  const isPair = kind === "contour" || kind === "rank";
  const pair = isPair && params.includes(x) && params.includes(y) && x !== y ? JSON.stringify([x, y]) : undefined;
  const hasMetric = kind !== "pareto_front" && kind !== "hypervolume_history";
  const options = useMemo(() => ({ metric: hasMetric ? metric : undefined, params: pair }), [metric, pair, hasMetric]);
  const names = /** @type {[string, string][]} */ ([["", t("plots.most_important")], ...params.map((name) => [name, name])]);
  const controls = html`${hasMetric && html`<${GoalChoice} />`}${isPair && params.length > 2 && html`
    <${Choice} label="x" value=${x ?? ""} options=${names} onChange=${(/** @type {string} */ value) => setQuery({ x: value || null })} />
    <${Choice} label="y" value=${y ?? ""} options=${names} onChange=${(/** @type {string} */ value) => setQuery({ y: value || null })} />`}`;
  return html`<${SceneFigure} name=${kind} options=${options} controls=${controls} />`;
}

/** The goal over one hyperparameter: a point for each trial, live. */
function Slice() {
  const now = table.value;
  const version = now.version.value;
  const params = paramsOf(now);
  const [log, setLog] = useState(/** @type {boolean | null} */ (null));
  const column = params.find((one) => one.name === route.value.query.x) ?? params[0];
  const facts = useMemo(() => column && sliceFacts(now, goal.value, column), [now, version, goal.value, column]);
  if (!column || !facts) {
    const title = t("plots.no_params", { metric: "" });
    return html`<${Figure} title=${t("plots.title_slice")} summary=${title}><${Empty} title=${title} /></${Figure}>`;
  }
  const { metric, mode, y, x, n } = facts;
  const isLog = log ?? (mode === "min" && spansDecades(facts.limits));
  const summary = t("plots.slice_summary", { n, metric, param: column.name });
  const content = () => ({
    x, line: null, codes: codesOf(now),
    y: { axis: { title: goalTitle(metric, mode), scale: isLog ? /** @type {const} */ ("log") : undefined }, values: y },
  });
  return html`<${Figure} title=${t("plots.slice_of", { param: column.name, metric })} summary=${summary} table=${() => sliceTable(now, column, metric, y)}
      controls=${html`<${GoalChoice} /><${Choice} label=${t("plots.param")} value=${column.name} options=${params.map((one) => [one.name, one.name])}
        onChange=${(/** @type {string} */ value) => setQuery({ x: value })} />
        <label class="plot-check"><input type="checkbox" checked=${isLog} onChange=${() => setLog(!isLog)} /> ${t("plots.log")}</label>`}
      note=${now.length > n ? t("plots.without_either", { n: now.length - n }) : ""}>
    <${FilterNote} hint=${t("plots.brush_box_hint")} />
    ${n ? html`<${Scatter} table=${now} content=${content} deps=${[facts, isLog]} height=${380} label=${summary}
      onPick=${(/** @type {number} */ row) => go("trial", now.ids[row])}
      onBrush=${(/** @type {[number, number]} */ across, /** @type {[number, number]} */ along) => brushTo(now, [
        facts.order ? { key: column.key, levels: facts.order.filter((_, i) => i >= across[0] && i <= across[1]) } : { key: column.key, low: across[0], high: across[1] },
        { key: `metric:${metric}`, low: along[0], high: along[1] }])} />` : html`<${Empty} title=${t("plots.no_values", { metric })} />`}
  </${Figure}>`;
}

const MOST_CATEGORIES = 50;

/**
 * @param {import("../data/table.js").Table} now
 * @param {number} which
 * @param {import("../data/table.js").Column} column
 */
function sliceFacts(now, which, column) {
  const { metric, mode, values: y } = goalValues(now, which);
  const limits = extent([column.values], false);
  let order = null;
  let values = /** @type {ArrayLike<number>} */ (column.values);
  /** @type {import("../plots/scales.js").AxisSpec} */
  let axis = { title: column.name, scale: column.isLog && limits && limits[0] > 0 ? "log" : undefined, is_whole: column.isInteger };
  if (column.levels) {
    const { levels } = column;
    const counts = new Map();
    for (let i = 0; i < now.length; i++) counts.set(column.values[i], (counts.get(column.values[i]) ?? 0) + 1);
    counts.delete(-1);
    let codes = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)).slice(0, MOST_CATEGORIES).sort((a, b) => a - b);
    if (codes.every((code) => typeof levels[code] === "number")) codes = codes.sort((a, b) => levels[a] - levels[b]);
    const place = new Map(codes.map((code, i) => [code, i]));
    order = codes.map((code) => levels[code]);
    axis = { title: column.name, scale: "category", categories: order.map((level) => (typeof level === "string" ? level : JSON.stringify(level))) };
    // Trials of one category stand side by side, always at the same place.
    values = Float32Array.from(column.values, (code, i) => (place.get(code) ?? NaN) + 0.6 * (((i * 0.618034) % 1) - 0.5));
  }
  let n = 0;
  for (let i = 0; i < now.length; i++) if (y[i] - y[i] === 0 && values[i] - values[i] === 0) n++;
  return { metric, mode, y, limits: extent([y], false), order, n, x: { axis, values } };
}

/**
 * @param {import("../data/table.js").Table} now
 * @param {import("../data/table.js").Column} column
 * @param {string} metric
 * @param {ArrayLike<number>} y
 */
function sliceTable(now, column, metric, y) {
  const rows = [];
  for (let row = now.length - 1; row >= 0 && rows.length < 500; row--) {
    if (y[row] === y[row]) rows.push({ id: now.ids[row], x: cellText(column, row), y: number(y[row]) });
  }
  return { columns: [{ label: t("plots.trial"), key: "id" }, { label: column.name, key: "x", isNumber: !column.levels }, { label: metric, key: "y", isNumber: true }], rows };
}
