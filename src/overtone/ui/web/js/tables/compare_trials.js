/** Up to ten trials: their curves in one figure, and their configs with the differences first. */

import { html, useState } from "../html.js";
import { took } from "../format.js";
import { t } from "../i18n.js";
import { clockNow, goalNow, link, MOST_SELECTED, route, selected, table } from "../state.js";
import { Badge } from "../ui/badge.js";
import { Button } from "../ui/button.js";
import { Empty } from "../ui/notes.js";
import { DataTable } from "../ui/table.js";
import { CurveFigure } from "./curve_figure.js";
import { shownValue, valueAt } from "./shown_columns.js";
import { secondsOf, stateOf } from "./trial_state.js";
import { TrialName } from "./trial_text.js";

/** @typedef {import("../data/table.js").Table} Table */
/** @typedef {{key: string, label: string, cells: string[], differs: boolean, group: string}} Line */

/** @returns {number[]} rows */
function chosenRows() {
  const { trials } = route.value.query;
  const ids = trials === undefined ? null : trials.split(",").map(decoded);
  const rows = ids === null ? [...selected.value] : ids.map((id) => table.value.rowOf(id)).filter((row) => row >= 0);
  return rows.slice(0, MOST_SELECTED);
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function CompareTrials() {
  const now = table.value;
  now.version.value;
  const rows = chosenRows();
  const [isWhole, setWhole] = useState(false);
  if (rows.length === 0) {
    return html`<${Empty} title=${t("tables.nothing_chosen")}><p>${t("tables.nothing_chosen_how")}</p>
      <p class="view-tools"><${Button} kind="primary" href=${link("trials")} label=${t("tables.trials")} />
      <${Button} onClick=${() => (selected.value = firstRows(now))} label=${t("tables.choose_best")} /></p></>`;
  }
  const lines = linesOf(now, rows);
  const shown = isWhole ? lines : lines.filter((line) => line.differs || line.group !== "param");
  const columns = [
    { label: t("tables.name"), cell: (/** @type {Line} */ line) => html`<bdi class=${line.differs && line.group === "param" ? "differs" : ""}>${line.label}</bdi>` },
    ...rows.map((row, i) => ({
      label: html`<${TrialName} id=${now.ids[row]} /><div><${Badge} state=${stateOf(now, row)} /></div>`,
      cell: (/** @type {Line} */ line) => html`<bdi class=${`mono anywhere${line.differs && line.group === "param" ? " differs" : ""}`}>${line.cells[i]}</bdi>`,
    })),
  ];
  const news = rows.map((row) => now.column("fact:n_results")?.values[row]).join();
  return html`<${CurveFigure} ids=${rows.map((row) => now.ids[row])} goal=${goalNow()?.[0] ?? null} news=${news}
      title=${(/** @type {string} */ metric) => t("tables.curves_of", { metric })} label=${(/** @type {string} */ id) => id} height=${320} />
    <section class="panel"><header class="panel-head"><h2>${t("tables.differences")}</h2>
      <div class="view-tools"><label class="check"><input type="checkbox" checked=${isWhole} onChange=${() => setWhole(!isWhole)} />${t("tables.show_equal")}</label></div></header>
      <${DataTable} caption=${t("tables.differences")} columns=${columns} rows=${shown} rowKey=${(/** @type {Line} */ line) => line.key} /></section>`;
}

/**
 * The rows of the best trials by the goal that is shown.
 * @param {Table} now
 */
function firstRows(now) {
  const goal = goalNow();
  const values = goal && now.column(`metric:${goal[0]}`)?.values;
  if (!goal || !values) return new Set();
  const sign = goal[1] === "max" ? -1 : 1;
  const rows = [...values.keys()].filter((row) => !Number.isNaN(values[row]));
  return new Set(rows.sort((a, b) => sign * (values[a] - values[b])).slice(0, 5));
}

/**
 * @param {Table} now
 * @param {number[]} rows
 * @returns {Line[]} results, then hyperparameters that differ, then equal ones
 */
function linesOf(now, rows) {
  const goals = now.goals.flatMap(([metric, mode]) => [[`metric:${metric}`, metric], [`metric:${metric}:${mode}`, t("tables.best_of", { metric })]]); // prettier-ignore
  const facts = [["fact:n_results", t("tables.fact_n_results")], ["fact:end", t("tables.fact_end")], ["fact:node", t("tables.fact_node")]]; // prettier-ignore
  const params = [...now.columns.values()].filter(({ group }) => group === "param").map(({ key, name }) => [key, name]);
  const lines = [...goals, ...facts, ...params].flatMap(([key, label]) => {
    const column = now.columns.get(key);
    if (column === undefined) return [];
    const cells = rows.map((row) => shownValue(valueAt(column, now, row), column));
    return [{ key, label, cells, group: column.group, differs: cells.some((cell) => cell !== cells[0]) }];
  });
  const elapsed = clockNow();
  const times = rows.map((row) => took(secondsOf(now, row, elapsed)) || "–");
  lines.splice(goals.length, 0, { key: "fact:duration", label: t("tables.fact_duration"), cells: times, group: "fact", differs: true });
  const place = (/** @type {Line} */ line) => (line.group !== "param" ? 0 : line.differs ? 1 : 2);
  return lines.sort((a, b) => place(a) - place(b));
}
