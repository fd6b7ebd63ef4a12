/** Smaller facts about a trial: its processes, checkpoints and relatives, its error, and where it hangs. */

import { html, useState } from "../../html.js";
import { bytes, duration, text } from "../../format.js";
import { t } from "../../i18n.js";
import { experiment, source } from "../../state.js";
import { Button } from "../../ui/button.js";
import { CopyButton } from "../../ui/copy.js";
import { DataTable } from "../../ui/table.js";
import { TrialName } from "../trial_text.js";

const MOST_CHECKPOINTS = 8;
const LONGEST_OUTCOME = 160;

/** @param {{attempts: any[]}} props */
export function Attempts({ attempts }) {
  const columns = [
    { label: t("tables.attempt"), isNumber: true, cell: (/** @type {any} */ one) => one.attempt + 1 },
    { label: t("tables.fact_node"), cell: (/** @type {any} */ one) => html`<bdi>${one.node}</bdi>` },
    { label: t("tables.process"), isNumber: true, key: "pid" },
    { label: t("tables.fact_started"), isNumber: true, cell: (/** @type {any} */ one) => duration(one.started) },
    { label: t("tables.fact_ended"), isNumber: true, cell: (/** @type {any} */ one) => duration(one.ended) || "–" },
    { label: t("tables.outcome"), cell: (/** @type {any} */ one) => html`<bdi class="anywhere">${outcome(one)}</bdi>` },
    { label: t("tables.restored"), cell: (/** @type {any} */ one) => one.restored && html`<${TrialName} id=${one.restored.trial_id} />${` ${t("tables.at_iteration", { t: text(one.restored.t) })}`}` },
  ]; // prettier-ignore
  return html`<section class="panel"><h2>${t("tables.attempts")}</h2>
    <${DataTable} caption=${t("tables.attempts")} columns=${columns} rows=${attempts} empty=${html`<p class="faint">${t("tables.no_attempts")}</p>`} /></section>`;
}

/** @param {any} attempt */
function outcome({ error, cause, ended }) {
  const text = error || cause || (ended === null ? t("tables.runs") : "");
  return text.length > LONGEST_OUTCOME ? `${text.slice(0, LONGEST_OUTCOME)}…` : text;
}

/** @param {{checkpoints: any[]}} props */
export function Checkpoints({ checkpoints }) {
  const [isWhole, setWhole] = useState(false);
  const rows = [...checkpoints].reverse().slice(0, isWhole ? undefined : MOST_CHECKPOINTS);
  const columns = [
    { label: t("tables.iteration"), isNumber: true, cell: (/** @type {any} */ one) => text(one.t) },
    { label: t("tables.name"), cell: (/** @type {any} */ one) => html`<bdi class="mono anywhere">${one.name}</bdi>` },
    { label: t("tables.size"), isNumber: true, cell: (/** @type {any} */ one) => bytes(one.bytes) || "–" },
    { label: t("tables.saved_by"), cell: (/** @type {any} */ one) => t(one.is_automatic ? "tables.saved_by_overtone" : "tables.saved_by_trial") },
    { label: t("tables.state"), cell: (/** @type {any} */ one) => (one.exists === false ? t("tables.deleted") : one.exists ? t("tables.kept") : "") },
  ]; // prettier-ignore
  return html`<section class="panel"><h2>${t("tables.checkpoints")}</h2>
    <${DataTable} caption=${t("tables.checkpoints")} columns=${columns} rows=${rows} empty=${html`<p class="faint">${t("tables.no_checkpoints")}</p>`} />
    ${rows.length < checkpoints.length && html`<${Button} small=${true} label=${t("tables.show_all", { n: checkpoints.length })} onClick=${() => setWhole(true)} />`}</section>`;
}

/** @param {{lineage: {from: any[], to: any[]}}} props */
export function Lineage({ lineage }) {
  if (lineage.from.length + lineage.to.length === 0) return null;
  return html`<section class="panel"><h2>${t("tables.lineage")}</h2>
    ${[["lineage_from", lineage.from], ["lineage_to", lineage.to]].map(([key, list]) => list.length > 0 && html`
      <h3>${t(`tables.${key}`)}</h3>
      <ul class="plain-list">${/** @type {any[]} */ (list).map((one) => html`<li><${TrialName} id=${one.trial_id} />
        <span class="faint"> ${t("tables.at_iteration", { t: text(one.t) })}</span>
        ${one.changes.length > 0 && html`<span class="small anywhere"> ${one.changes.map(changeText).join(", ")}</span>`}</li>`)}</ul>`)}
  </section>`;
}

/** @param {{name: string, before: any, after: any}} change */
function changeText({ name, before, after }) {
  return `${name}: ${text(before)} → ${text(after)}`;
}

/** @param {{error: string, traceback: string}} props */
export function Failure({ error, traceback }) {
  if (!error && !traceback) return null;
  return html`<section class="note note-error" aria-label=${t("tables.error")}>
    <header class="panel-head"><h2>${t("tables.error")}</h2><${CopyButton} label=${t("tables.copy")} text=${() => traceback || error} /></header>
    ${!traceback.includes(error) && html`<p class="note-text"><bdi>${error}</bdi></p>`}
    ${traceback && html`<details open><summary>${t("tables.traceback")}</summary><pre class="code traceback" tabindex="0">${traceback}</pre></details>`}
  </section>`;
}

/** Asks a running trial where its threads are: for one that seems to hang. @param {{trial: string}} props */
export function Stack({ trial }) {
  const [answer, setAnswer] = useState({ text: "", error: "", isAsked: false });
  if (!source.value?.can.stack) return null;
  async function ask() {
    setAnswer({ text: "", error: "", isAsked: true });
    try {
      const found = await /** @type {import("../../data/source.js").Source} */ (source.value).stack(experiment.value, trial);
      setAnswer({ text: typeof found === "string" ? found : found.text, error: "", isAsked: false });
    } catch (error) {
      setAnswer({ text: "", error: String(/** @type {Error} */ (error).message), isAsked: false });
    }
  }
  return html`<section class="panel"><header class="panel-head"><h2>${t("tables.stack")}</h2>
      <${Button} small=${true} label=${t(answer.isAsked ? "tables.stack_waits" : "tables.stack_ask")} isDisabled=${answer.isAsked} onClick=${ask} /></header>
    <p class="faint">${t("tables.stack_how")}</p>
    <div role="status">${answer.error && html`<p class="field-error">${answer.error}</p>`}</div>
    ${answer.text && html`<pre class="code traceback" tabindex="0">${answer.text}</pre>`}
  </section>`;
}
