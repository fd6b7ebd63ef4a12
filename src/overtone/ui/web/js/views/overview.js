/** One glance at a run: how far it is, what is best so far, what runs, what was decided. */
import { html } from "../html.js";
import { hasDriver } from "../control/requests.js";
import { stateCounts } from "../data/counts.js";
import { duration } from "../format.js";
import { t } from "../i18n.js";
import { clockNow, connection, goal, goalNow, link, overview, table } from "../state.js";
import { ExperimentActions } from "../ui/actions.js";
import { Badge } from "../ui/badge.js";
import { CopyButton } from "../ui/copy.js";
import { useSeconds } from "../ui/every.js";
import { ErrorNote, Spinner } from "../ui/notes.js";
import { CountList, ProgressBar } from "../ui/progress.js";
import { BestPanel } from "./overview/best.js";
import { DecisionsPanel, RunningPanel } from "./overview/activity.js";
import { FactsPanel } from "./overview/facts.js";
import { HistoryPanel } from "./overview/history.js";

export function OverviewView() {
  const now = overview.value;
  useSeconds(!!now && hasDriver());
  if (!now) return html`<${Spinner} />`;
  if (now.error) return html`<h1>${now.name}</h1><${ErrorNote} title=${t("shell.damaged")} error=${now.error} />`;
  const counts = (table.value.version.value, stateCounts(table.value, hasDriver()));
  const isLive = hasDriver();
  return html`
    <header class="view-head">
      <div class="view-title"><h1 class="cut" title=${now.path}>${now.name}</h1><${Badge} state=${now.state} /><${Pulse} />
        ${now.trainable && html`<span class="faint cut">${now.trainable}</span>`}</div>
      <${ExperimentActions} />
    </header>
    ${warnings(now).map((text) => html`<p class="note note-quiet">${text}</p>`)}
    <section class="panel progress-panel" aria-label=${t("shell.progress")}>
      <p class="progress-text">${progressText(now, counts)}</p>
      <${ProgressBar} counts=${counts} planned=${now.planned} label=${progressText(now, counts)} />
      <${CountList} counts=${counts} href=${() => link("trials")} />
      ${!isLive && now.is_resumable && html`<p class="resume">${t("shell.resume_how")} <code class="path">overtone resume ${now.path}</code>
        <${CopyButton} label=${t("shell.copy")} text=${() => `overtone resume ${now.path}`} /></p>`}
    </section>
    <${GoalChoice} />
    <div class=${`overview-grid${isLive ? " is-live" : ""}`}>
      <${BestPanel} /><${HistoryPanel} />
      ${isLive && html`<${RunningPanel} />`}
      <${DecisionsPanel} /><${FactsPanel} />
    </div>`;
}

/**
 * How far the run is, in one or two sentences.
 *
 * @param {any} now
 * @param {import("../ui/progress.js").Counts} counts
 */
export function progressText(now, counts) {
  const ended = counts.completed + counts.stopped + counts.failed;
  const known = table.value.length;
  const planned = now.planned > 0 ? Math.max(now.planned, known) : 0;
  const first = planned ? t("shell.ended_of", { n: ended, all: planned }) : t("shell.ended", { n: ended, all: known });
  const clock = clockNow();
  if (!hasDriver()) {
    const word = now.state === "finished" ? "finished_after" : now.state === "crashed" ? "crashed_after" : "interrupted_after";
    return `${first}${t("shell.full_stop")}${t(`shell.${word}`, { took: duration(clock) })}`;
  }
  const eta = now.now?.eta_s ?? null;
  const left = eta === null ? "" : ` ${t("shell.left", { eta: roughly(eta) })}`;
  const stopping = now.state === "stopping" ? ` ${t("shell.stopping_now")}` : "";
  return `${first}${t("shell.full_stop")}${t("shell.running_for", { took: duration(clock) })}${left}${stopping}`;
}

/** An estimate has no seconds beyond a minute. @param {number} seconds */
function roughly(seconds) {
  return seconds < 60 ? `${Math.max(Math.round(seconds / 5) * 5, 5)} s` : duration(Math.round(seconds / 60) * 60).replace(" 00 s", "");
}

/** @param {any} now @returns {string[]} */
function warnings(now) {
  return (now.warnings ?? []).slice(-3).map((/** @type {any} */ one) => (one.time === null ? one.text : `${one.text} (${t("shell.at_time", { time: duration(one.time) })})`));
}

/** Whether the page moves with the run. */
function Pulse() {
  const state = connection.value;
  if (state === "connecting" || state === "over") return null;
  return html`<span class=${`pulse pulse-${state}`} title=${t(`shell.connection_${state}_why`)}><span class="pulse-dot" aria-hidden="true" />${t(`shell.connection_${state}`)}</span>`;
}

/** Which objective is shown, where there are several. */
function GoalChoice() {
  const { goals } = table.value;
  if (goals.length < 2) return null;
  return html`<div class="goals" role="group" aria-label=${t("shell.objective")}>${goals.map(([metric, mode], i) => html`
    <button type="button" key=${metric} class="goal" aria-pressed=${goalNow() === goals[i]} onClick=${() => (goal.value = i)}>${metric} ${mode === "max" ? "↑" : "↓"}</button>`)}</div>`;
}

