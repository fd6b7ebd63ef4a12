/** The value of each trial in the order of creation, and the best so far. */

import { html, useMemo, useState } from "../html.js";
import { number } from "../format.js";
import { t } from "../i18n.js";
import { go } from "../state.js";
import { Figure } from "../ui/figure.js";
import { Empty } from "../ui/notes.js";
import { bestSoFar } from "./best.js";
import { brushTo } from "./brush.js";
import { FilterNote } from "./choices.js";
import { Legend } from "./legend.js";
import { extent, spansDecades } from "./scales.js";
import { Scatter } from "./scatter.js";
import { codesOf, countReported, goalValues, LOOKS, stateText } from "./trials.js";

/** @typedef {import("../data/table.js").Table} Table */

/**
 * @param {{table: Table, goal: number, height?: number, compact?: boolean, controls?: any}} props
 *   `compact` leaves the controls and the legend away.
 */
export function HistoryPlot({ table, goal, height = 320, compact = false, controls }) {
  const version = table.version.value;
  const [log, setLog] = useState(/** @type {boolean | null} */ (null));
  const facts = useMemo(() => historyFacts(table, goal), [table, version, goal]);
  const { metric, mode, values, best, n, counts, codes } = facts;
  if (!n) {
    const title = metric ? t("plots.no_values", { metric }) : t("plots.no_goal");
    return html`<${Figure} title=${t("plots.history")} summary=${title} controls=${controls}><${Empty} title=${title} /></${Figure}>`;
  }
  const isLog = log ?? (mode === "min" && spansDecades(facts.limits));
  const summary = t("plots.history_summary", {
    n, metric, best: number(values[best.row]), trial: table.ids[best.row] ?? "", row: best.row,
  });
  const content = () => ({
    x: { axis: { title: compact ? "" : t("plots.trial_number"), is_whole: true }, values: rowNumbers(table.length) },
    y: { axis: { title: goalTitle(metric, mode), scale: isLog ? /** @type {const} */ ("log") : undefined }, values },
    codes,
    line: best,
  });
  const toggle = !compact && html`<label class="plot-check"><input type="checkbox" checked=${isLog}
    onChange=${() => setLog(!isLog)} /> ${t("plots.log")}</label>`;
  return html`<${Figure} title=${t("plots.history")} summary=${summary} table=${() => historyTable(table, facts)}
      controls=${html`${controls}${toggle}`} note=${noteOf(facts, isLog)}>
    ${!compact && html`<p class="plot-says">${summary}</p><${FilterNote} /><${Legend} entries=${[
      { label: t("plots.best_so_far"), role: "best", kind: "line" },
      ...LOOKS.filter((_, code) => counts[code]).map(({ role, symbol, state }) => ({
        role, kind: symbol, label: `${stateText(LOOKS.findIndex((look) => look.state === state))} (${
          counts[LOOKS.findIndex((look) => look.state === state)].toLocaleString("en-US")})`,
      })),
    ]} />`}
    <${Scatter} table=${table} content=${content} deps=${[facts, isLog, compact]} height=${height} label=${summary} compact=${compact}
      onPick=${(/** @type {number} */ row) => go("trial", table.ids[row])}
      onBrush=${(/** @type {[number, number]} */ x, /** @type {[number, number]} */ y) => brushTo(table, [
        { key: "fact:number", low: Math.ceil(x[0]), high: Math.floor(x[1]) }, { key: `metric:${metric}`, low: y[0], high: y[1] }])} />
  </${Figure}>`;
}

/**
 * @param {string} metric
 * @param {string} mode
 */
export function goalTitle(metric, mode) {
  return t(mode === "max" ? "plots.higher" : "plots.lower", { metric });
}

let numbers = new Int32Array(0);

/** @param {number} n */
function rowNumbers(n) {
  if (numbers.length < n) numbers = Int32Array.from({ length: 2 * n }, (_, i) => i);
  return numbers.subarray(0, n);
}

/**
 * @param {Table} table
 * @param {number} goal
 */
function historyFacts(table, goal) {
  const { metric, mode, values } = goalValues(table, goal);
  const codes = codesOf(table);
  const counts = new Array(LOOKS.length).fill(0);
  let n = 0;
  for (let i = 0; i < values.length; i++) {
    if (values[i] - values[i] !== 0) continue;
    n++;
    counts[codes[i]]++;
  }
  const limits = extent([values], false);
  const nUnder = values.length && limits && limits[0] <= 0 ? countUnder(values) : 0;
  const best = bestSoFar(values, mode, table.column("fact:allowed")?.values);
  return { metric, mode, values, codes, counts, n, limits, nUnder, best, nAll: countReported(table) };
}

/** @param {ArrayLike<number>} values */
function countUnder(values) {
  let n = 0;
  for (let i = 0; i < values.length; i++) if (values[i] <= 0) n++;
  return n;
}

/**
 * @param {ReturnType<typeof historyFacts>} facts
 * @param {boolean} isLog
 */
function noteOf(facts, isLog) {
  const parts = [];
  if (facts.nAll > facts.n) parts.push(t("plots.without_value", { n: facts.nAll - facts.n }));
  if (isLog && facts.nUnder) parts.push(t("plots.not_on_log", { n: facts.nUnder }));
  return parts.join(" ");
}

const MOST_ROWS = 500;

/**
 * @param {Table} table
 * @param {ReturnType<typeof historyFacts>} facts
 */
function historyTable(table, { metric, values, codes }) {
  const rows = [];
  // The newest trials first: of 100,000 the first 500 say least.
  for (let row = table.length - 1; row >= 0 && rows.length < MOST_ROWS; row--) {
    rows.push({ row, id: table.ids[row], state: stateText(codes[row]), value: values[row] === values[row] ? number(values[row]) : "" });
  }
  return {
    columns: [
      { label: t("plots.trial_number"), key: "row", isNumber: true }, { label: t("plots.trial"), key: "id" },
      { label: t("plots.state"), key: "state" }, { label: metric, key: "value", isNumber: true },
    ],
    rows,
  };
}
