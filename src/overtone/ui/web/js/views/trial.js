/** One trial: what became of it and why, its curve, its config beside the best one, and its output. */

import { html, useEffect } from "../html.js";
import { text, took } from "../format.js";
import { t } from "../i18n.js";
import { clockNow, experiment, go, link, redirect, route, selected, source, table, toggleSelected } from "../state.js";
import { useAnswer } from "../tables/answers.js";
import { CurveFigure } from "../tables/curve_figure.js";
import { phrase, verdictText } from "../tables/decision_text.js";
import { levelAt, secondsOf, stateOf } from "../tables/trial_state.js";
import { Log } from "../tables/trial/log.js";
import { ConfigPanel } from "../tables/trial/params.js";
import { Attempts, Checkpoints, Failure, Lineage, Stack } from "../tables/trial/records.js";
import { StoryList } from "../tables/trial/story.js";
import { TrialName, TrialText } from "../tables/trial_text.js";
import { TrialActions } from "../ui/actions.js";
import { Badge } from "../ui/badge.js";
import { Button } from "../ui/button.js";
import { ErrorNote, Spinner } from "../ui/notes.js";

export function TrialView() {
  const id = route.value.trial;
  const now = table.value;
  now.version.value;
  const row = now.rowOf(id);
  const facts = ["status", "n_results", "rung", "source"].map((name) => now.column(`fact:${name}`)?.values[row]);
  const ask = () => /** @type {import("../data/source.js").Source} */ (source.value).trial(experiment.value, id);
  const { data, error, reload } = useAnswer(ask, `${experiment.value} ${id}`, facts.join());
  useEffect(() => {
    if (data && data.id !== id) redirect(link("trial", data.id)); // the address had its number
  }, [data]);
  const status = row < 0 ? (data?.status ?? "PENDING") : (levelAt(now, "fact:status", row) ?? data?.status);
  const state = row < 0 ? status : stateOf(now, row);
  const isRunning = state === "RUNNING";
  return html`<header class="view-head">
      <div class="view-title"><p class="crumb"><a href=${link("trials")}>${t("tables.trials")}</a> <span class="faint" aria-hidden="true">›</span></p>
      <h1 class="anywhere"><bdi>${id}</bdi></h1><${Badge} state=${state} />
      ${data?.best?.trial_id === id && html`<span class="best-mark">★ ${t("tables.best_trial")}</span>`}</div>
      <div class="view-tools"><${Neighbours} row=${row} />
        ${row >= 0 && html`<${Button} small=${true} isPressed=${selected.value.has(row)} label=${t("tables.choose_short")} onClick=${() => toggleSelected(row)} />`}
        ${data && source.value?.can.act && html`<${TrialActions} trial=${id} row=${row} status=${status} small=${true} />`}
      </div>
    </header>
    ${error && html`<${ErrorNote} error=${error} onRetry=${reload} />`}
    ${!data && !error && html`<${Spinner} />`}
    ${data && html`<${Answer} data=${data} isRunning=${isRunning} row=${row} />
      <${Failure} error=${data.error} traceback=${data.traceback} />
      <div class="trial-columns">
        <div class="trial-column">
          <${Curve} data=${data} news=${facts.join()} />
          <section class="panel"><h2>${t("tables.story")}</h2><${StoryList} steps=${data.story} trial=${id} /></section>
        </div>
        <div class="trial-column">
          <${ConfigPanel} params=${data.params} config=${data.config} best=${data.best} trial=${id} />
          <${Lineage} lineage=${data.lineage} />
          <${LastResult} values=${data.last_result} />
        </div>
      </div>
      ${source.value?.can.log && html`<${Log} key=${id} trial=${id} isRunning=${isRunning} />`}
      <div class="trial-columns">
        <div class="trial-column"><${Attempts} attempts=${data.attempts} />
          ${isRunning && html`<${Stack} trial=${id} />`}</div>
        <div class="trial-column"><${Checkpoints} checkpoints=${data.checkpoints} /></div>
      </div>`}`;
}

/**
 * The state of a trial in one sentence, and its figures.
 * @param {{data: any, isRunning: boolean, row: number}} props
 */
function Answer({ data, row, isRunning }) {
  const seconds = row < 0 ? NaN : secondsOf(table.value, row, isRunning ? clockNow() : NaN);
  /** @type {[string, any][]} */
  const facts = [];
  if (data.metric !== null && data.value !== null) facts.push([t("tables.last_of", { metric: data.metric }), text(data.value, false)]);
  if (data.best_value !== null && data.best_value !== undefined) {
    facts.push([t("tables.best_of", { metric: data.metric }), `${text(data.best_value, false)} ${t("tables.at_iteration", { t: text(data.best_iteration) })}`]);
  }
  if (data.best && data.best.trial_id !== data.id) {
    facts.push([t("tables.best_trial"), html`${text(data.best.value, false)} <${TrialName} id=${data.best.trial_id} />`]);
  }
  facts.push([t("tables.fact_n_results"), text(data.results)]);
  if (!Number.isNaN(seconds)) facts.push([t("tables.fact_duration"), took(seconds)]);
  if (data.failures > 0) facts.push([t("tables.failures"), text(data.failures)]);
  return html`<section class="panel verdict" aria-label=${t("tables.verdict")}>
    <p class="verdict-text" role="status"><${TrialText} text=${verdictText(data)} except=${data.id} /></p>
    ${data.note && html`<p class="faint">${phrase(data.note)}</p>`}
    <dl class="trial-facts">${facts.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
  </section>`;
}

/**
 * The trial's curve beside that of the best trial.
 * @param {{data: any, news: string}} props
 */
function Curve({ data, news }) {
  const best = data.best && data.best.trial_id !== data.id ? [data.best.trial_id] : [];
  const label = (/** @type {string} */ id) => (id === data.id ? t("tables.this_trial") : `${t("tables.best_trial")} ${id}`);
  return html`<${CurveFigure} ids=${[data.id, ...best]} goal=${data.metric} news=${news} label=${label} title=${() => t("tables.curve")} height=${260} />`;
}

/** @param {{values: Record<string, any>}} props */
function LastResult({ values }) {
  const names = Object.keys(values ?? {}).filter((name) => values[name] !== null);
  if (names.length === 0) return null;
  return html`<section class="panel"><details><summary>${t("tables.last_result", { n: names.length })}</summary>
    <dl class="trial-facts facts-list">${names.map((name) => html`<div key=${name}><dt><bdi>${name}</bdi></dt><dd><bdi class="anywhere">${text(values[name]).slice(0, 500)}</bdi></dd></div>`)}</dl>
  </details></section>`;
}

/** Links to the trials before and after. @param {{row: number}} props */
function Neighbours({ row }) {
  const { ids, length } = table.value;
  return html`<${Button} small=${true} kind="quiet" label="←" name=${t("tables.previous")} title=${t("tables.previous")} isDisabled=${row <= 0} onClick=${() => go("trial", ids[row - 1])} />
    <${Button} small=${true} kind="quiet" label="→" name=${t("tables.next")} title=${t("tables.next")} isDisabled=${row < 0 || row >= length - 1} onClick=${() => go("trial", ids[row + 1])} />`;
}
