/** What happens now: the trials that run, and the last decisions. */
import { html, useRef, useState } from "../../html.js";
import { hasDriver } from "../../control/requests.js";
import { duration, number } from "../../format.js";
import { t } from "../../i18n.js";
import { clockNow, experiment, goalNow, link, overview, source } from "../../state.js";
import { Sparkline } from "../../plots/sparkline.js";
import { decisionText } from "../../tables/decision_text.js";
import { useEvery } from "../../ui/every.js";
import { DataTable } from "../../ui/table.js";

const MOST_RUNNING = 10;
const CURVES_EVERY_S = 2;
const CURVE_POINTS = 60;

export function RunningPanel() {
  const now = overview.value;
  const metric = goalNow()?.[0] ?? "";
  const running = (now.running ?? []).slice(0, MOST_RUNNING);
  const curves = useCurves(running.map((/** @type {any} */ one) => one.trial_id), metric);
  const n = now.slots?.used ?? running.length;
  const clock = clockNow();
  /** @type {import("../../ui/table.js").TableColumn[]} */
  const columns = [
    { label: t("shell.trial"), cell: (one) => html`<a href=${link("trial", one.trial_id)}>${one.trial_id}</a>` },
    { label: metric || t("shell.value"), isNumber: true, cell: (one) => number(one.value) || html`<span class="faint">–</span>` },
    { label: t("shell.curve"), look: "cell-curve", cell: (one) => html`<${Sparkline} values=${curves.get(one.trial_id) ?? []} width=${96} height=${22}
        label=${t("shell.curve_of", { trial: one.trial_id, metric })} />` },
    { label: t("shell.results"), isNumber: true, cell: (one) => one.t },
    { label: t("shell.runs_for"), isNumber: true, cell: (one) => (one.since === null ? "" : duration(clock - one.since)) },
    ...(new Set(running.map((/** @type {any} */ one) => one.node)).size > 1
      ? [{ label: t("shell.node"), look: "cell-node", cell: (/** @type {any} */ one) => one.node ?? "" }] : []),
  ];
  return html`<section class="panel" aria-labelledby="running-title">
    <h2 id="running-title">${t("shell.runs_now", { n })}</h2>
    ${running.length
      ? html`<${DataTable} caption=${t("shell.running_trials")} rows=${running} columns=${columns} rowKey=${(/** @type {any} */ one) => one.trial_id} />`
      : html`<p class="faint">${t("shell.nothing_runs")}</p>`}
    ${n > running.length && running.length > 0 && html`<p class="faint small"><a href=${link("trials")}>${t("shell.and_more", { n: n - running.length })}</a></p>`}
  </section>`;
}

/**
 * Return the curves of trials, read every few seconds.
 *
 * @param {string[]} trials
 * @param {string} metric
 * @returns {Map<string, (number | null)[]>}
 */
function useCurves(trials, metric) {
  const [curves, setCurves] = useState(() => new Map());
  const wanted = useRef(trials);
  wanted.current = trials;
  async function read() {
    if (!wanted.current.length || !metric) return;
    try {
      const answer = await /** @type {any} */ (source.value).curves(experiment.value, wanted.current, metric, CURVE_POINTS);
      setCurves(new Map(answer.trials.map((/** @type {any} */ one) => [one.id, one.segments.flatMap((/** @type {any} */ part) => part.value)])));
    } catch {
      // the numbers beside them stay; the next round asks again
    }
  }
  useEvery(read, CURVES_EVERY_S, [metric, trials.length > 0]);
  return curves;
}

export function DecisionsPanel() {
  const now = overview.value;
  const decisions = (now.decisions ?? []).slice(0, 8);
  return html`<section class="panel" aria-labelledby="decisions-title">
    <div class="panel-head"><h2 id="decisions-title">${t("shell.last_decisions")}</h2><a href=${link("decisions")}>${t("shell.all_decisions")}</a></div>
    ${decisions.length
      ? html`<ol class="decisions">${decisions.map((/** @type {any} */ one) => html`<li key=${one.n} class="decision">
          <span class="decision-when faint" title=${t("shell.at_time", { time: duration(one.time) })}>${when(one.time)}</span>
          <span class="decision-text">${one.trial_id && html`<a href=${link("trial", one.trial_id)} title=${t("shell.why_this")}>${one.trial_id}</a>`} ${decisionText(one)}</span>
        </li>`)}</ol>`
      : html`<p class="faint">${t("shell.no_decisions")}</p>`}
  </section>`;
}

/**
 * How long ago something was, while the run goes on; afterwards when it was in the run.
 *
 * @param {number} time Of the run's clock.
 */
function when(time) {
  if (!hasDriver()) return t("shell.at", { time: duration(time) });
  const whole = Math.max(Math.round(clockNow() - time), 0);
  return t("shell.ago", { since: whole < 10 ? `${whole} s` : duration(whole) });
}
