/** The report's first screen, for a reader who has never seen Overtone: what was searched, what was found. */
import { html, useEffect, useState } from "../html.js";
import { number, text } from "../format.js";
import { t } from "../i18n.js";
import { experiment, link, me, overview, source, table } from "../state.js";
import { Button } from "../ui/button.js";
import { OverviewView } from "../views/overview.js";
import { configOf, fates, findings, settings } from "./findings.js";

const MOST_PARAMS = 12;
const MOST_OPTIONS = 8;

export function ReportOverview() {
  table.value.version.value;
  if (!overview.value) return null;
  return html`<div class="report">
    <section class="report-first">
      <h1>${overview.value.name}</h1>
      <div class="report-cards"><${Searched} /><${Best} /><${Sure} /></div>
      <${Meaning} />
    </section>
    <${OverviewView} />
    <p class="faint report-foot">${t("report.made", { version: me.value?.version ?? "", date: (me.value?.written ?? "").slice(0, 10) })}
      ${me.value?.mantissa_bits && html` ${t("report.rounded", { digits: digitsOf(me.value.mantissa_bits) })}`}</p>
  </div>`;
}

/** @param {number} bits Of a mantissa. */
function digitsOf(bits) {
  return Math.floor((bits + 1) * Math.log10(2));
}

function Searched() {
  const varied = settings(table.value);
  return html`<section class="report-card"><h2>${t("report.searched")}</h2>
    <p>${aim(table.value.goals, table.value.length)}</p>
    ${varied.length > 0 && html`<p>${t("report.searched_params", { n: varied.length })}</p>
      <ul>${varied.slice(0, MOST_PARAMS).map((one) => html`<li key=${one.name}>${range(one)}</li>`)}
        ${varied.length > MOST_PARAMS && html`<li>${t("report.more_params", { n: varied.length - MOST_PARAMS })}</li>`}</ul>`}
  </section>`;
}

/** @param {[string, string][]} goals @param {number} n */
function aim(goals, n) {
  if (!goals.length) return t("report.searched_any", { n });
  if (goals.length === 1) return t(`report.searched_${goals[0][1] === "max" ? "max" : "min"}`, { n, metric: goals[0][0] });
  const said = goals.map(([metric, mode]) => t(`report.goal_${mode === "max" ? "max" : "min"}`, { metric }));
  return t("report.searched_goals", { n, goals: said.join(", ") });
}

/** @param {import("./findings.js").Setting} setting */
function range({ name, low, high, isLog, options, n }) {
  if (options) {
    const shown = options.slice(0, MOST_OPTIONS).map((one) => text(one)).join(", ");
    return t("report.among", { name, options: n > MOST_OPTIONS ? `${shown}, ${t("report.more_params", { n: n - MOST_OPTIONS })}` : shown });
  }
  return t(isLog ? "report.between_log" : "report.between", { name, low: number(low), high: number(high) });
}

function Best() {
  return html`<section class="report-card report-best"><h2>${t("report.best")}</h2>
    ${table.value.goals.map((_, i) => html`<${BestOf} key=${i} goal=${i} />`)}
  </section>`;
}

/** @param {{goal: number}} props */
function BestOf({ goal }) {
  const metric = table.value.goals[goal][0];
  const ranked = findings(table.value, goal);
  const best = overview.value.goals?.[goal]?.best; // by exact values
  const found = best ? { row: best.row, value: best.value } : ranked;
  const [trial, setTrial] = useState(/** @type {any} */ (null));
  const id = found ? table.value.ids[found.row] : "";
  useEffect(() => {
    if (id) source.value?.trial(experiment.value, id).then(setTrial, () => setTrial(null));
  }, [id]);
  if (!found) return html`<p>${t("report.best_none", { metric })}</p>`;
  const config = trial?.config ?? configOf(table.value, found.row);
  return html`<div>
    <p class="report-value">${t("report.best_of", { metric, value: number(found.value), trial: id })}</p>
    <dl>${Object.entries(config).map(([name, value]) => html`<dt>${name}</dt><dd>${text(value)}</dd>`)}</dl>
    <p class="report-actions"><a href=${link("trial", id)}>${t("report.open_trial")}</a> <${Copy} config=${config} /></p>
  </div>`;
}

/** @param {{config: any}} props */
function Copy({ config }) {
  const [isCopied, setCopied] = useState(false);
  if (typeof navigator === "undefined" || !navigator.clipboard) return null; // a page from disk may have none
  const copy = () =>
    navigator.clipboard.writeText(JSON.stringify(config, null, 2)).then(() => setCopied(true), () => setCopied(false));
  return html`<${Button} kind="quiet" small=${true} label=${t(isCopied ? "report.copied" : "report.copy")} onClick=${copy} />`;
}

function Sure() {
  const found = findings(table.value);
  const { stopped, failed, running } = fates(table.value);
  const n = table.value.length;
  if (!found) return null;
  const lines = [];
  if (found.second !== null && found.spread !== null && found.range !== null) {
    lines.push(t("report.sure_gap", { second: number(found.second), spread: rough(found.spread), range: rough(found.range) }));
  }
  if (n > 1) {
    lines.push(found.later ? t("report.sure_when", { at: found.row, n, rest: found.later }) : t("report.sure_when_last"));
  }
  if (stopped) lines.push(t("report.sure_stopped", { stopped, n }));
  if (failed) lines.push(t("report.sure_failed", { failed, n }));
  if (running) lines.push(t("report.sure_running", { running }));
  if (found.spread) lines.push(t("report.sure_chance", { spread: rough(found.spread) }));
  return html`<section class="report-card"><h2>${t("report.sure")}</h2>${lines.map((line) => html`<p>${line}</p>`)}</section>`;
}

/** @param {number} value A difference, of which few digits count. */
function rough(value) {
  return number(Number(value.toPrecision(3)));
}

function Meaning() {
  const metric = table.value.goals[0]?.[0];
  const words = ["trial", ...(metric ? ["metric"] : []), "iteration", "status", "importance"];
  return html`<details class="report-words" open><summary>${t("report.meaning")}</summary>
    <dl>${words.map((word) => html`<dt>${word === "metric" ? metric : t(`report.word_${word}`)}</dt><dd>${t(`report.mean_${word}`)}</dd>`)}</dl>
  </details>`;
}
