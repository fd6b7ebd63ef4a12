/** Every dialog of a request by its verb. */
import { html, useState } from "../html.js";
import { count } from "../format.js";
import { t } from "../i18n.js";
import { overview } from "../state.js";
import { AddDialog, CloneDialog } from "./config_form.js";
import { RequestDialog, openRequest } from "./dialogs.js";

/** The dialog that is open, if any. */
export function Dialogs() {
  const open = openRequest.value;
  const Kind = open && DIALOGS[open.verb];
  return Kind ? html`<${Kind} key=${`${open.verb} ${open.trial}`} trial=${open.trial} />` : null;
}

/** @type {Record<string, (props: {trial: string}) => any>} */
const DIALOGS = {
  stop: StopDialog, stop_trial: StopTrialDialog, limits: LimitsDialog, priority: PriorityDialog, note: NoteDialog,
  add: AddDialog, clone: CloneDialog, kill_driver: KillDialog,
};

function StopDialog() {
  const n = overview.value?.statuses?.RUNNING ?? 0;
  return html`<${RequestDialog} verb="stop" trial="" title=${t("dialogs.stop_title")} submit=${t("dialogs.stop")} isDanger=${true} args=${() => ({})}>
    <p>${t("dialogs.stop_what", { n })}</p></${RequestDialog}>`;
}

/** @param {{trial: string}} props */
function StopTrialDialog({ trial }) {
  return html`<${RequestDialog} verb="stop_trial" trial=${trial} title=${t("dialogs.stop_trial_title", { trial })} submit=${t("dialogs.stop_trial")}
    isDanger=${true} args=${() => ({})}><p>${t("dialogs.stop_trial_what")}</p></${RequestDialog}>`;
}

function KillDialog() {
  return html`<${RequestDialog} verb="kill_driver" trial="" title=${t("dialogs.kill_title")} submit=${t("dialogs.kill")} isDanger=${true}
    hasNote=${false} args=${() => ({})}><p>${t("dialogs.kill_what")}</p></${RequestDialog}>`;
}

/** @param {{trial: string}} props */
function PriorityDialog({ trial }) {
  const [text, setText] = useState("");
  const isWrong = text.trim() !== "" && !Number.isFinite(Number(text));
  return html`<${RequestDialog} verb="priority" trial=${trial} title=${t("dialogs.priority_title", { trial })} submit=${t("dialogs.set")}
      isDisabled=${isWrong || text.trim() === ""} args=${() => ({ priority: Number(text) })}>
    <label class="field">${t("dialogs.priority")}
      <input type="text" inputmode="decimal" autofocus value=${text} aria-invalid=${isWrong ? "true" : undefined} placeholder="5"
        onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></label>
    <p class="faint">${t("dialogs.priority_how")}</p></${RequestDialog}>`;
}

/** @param {{trial: string}} props */
function NoteDialog({ trial }) {
  const [text, setText] = useState("");
  return html`<${RequestDialog} verb="note" trial=${trial} title=${t(trial ? "dialogs.note_trial_title" : "dialogs.note_title", { trial })}
      submit=${t("dialogs.note")} hasNote=${false} isDisabled=${!text.trim()} args=${() => ({ text: text.trim() })}>
    <label class="field">${t("dialogs.note_text")}
      <textarea rows="4" maxlength="10000" autofocus value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></label>
  </${RequestDialog}>`;
}

/** The limits that can be changed: their names in the overview and in a request, and what no limit is. */
const LIMITS = [
  { name: "max_concurrent", arg: "concurrency", label: "limit_concurrent", none: null },
  { name: "num_samples", arg: "num_samples", label: "limit_samples", none: -1 },
  { name: "time_budget_s", arg: "time", label: "limit_time", none: null },
];

function LimitsDialog() {
  const now = overview.value?.limits ?? {};
  /** @type {Record<string, string>} */
  const before = Object.fromEntries(LIMITS.map(({ name, none }) => [name, now[name] === null || now[name] === undefined || now[name] === none ? "" : String(now[name])]));
  const [texts, setTexts] = useState(before);
  const names = LIMITS.filter(({ name }) => texts[name].trim() !== before[name]);
  const isWrong = (/** @type {string} */ name) => texts[name].trim() !== "" && !(Number(texts[name]) > 0 && (name === "time_budget_s" || Number.isInteger(Number(texts[name]))));
  const anyWrong = names.some(({ name }) => isWrong(name));
  const args = () => (anyWrong ? null : Object.fromEntries(names.map(({ name, arg, none }) => [arg, texts[name].trim() === "" ? none : Number(texts[name])])));
  return html`<${RequestDialog} verb="limits" trial="" title=${t("dialogs.limits_title")} submit=${t("dialogs.set")} hasNote=${false}
      isDisabled=${!names.length || anyWrong} args=${args}>
    <p class="faint">${t("dialogs.limits_how")}</p>
    ${LIMITS.map(({ name, label }) => html`<label key=${name} class=${`field${texts[name].trim() !== before[name] ? " is-changed" : ""}`}>${t(`shell.${label}`)}
      <input type="text" inputmode="numeric" value=${texts[name]} placeholder=${t("dialogs.no_limit")} aria-invalid=${isWrong(name) ? "true" : undefined}
        onInput=${(/** @type {any} */ e) => setTexts({ ...texts, [name]: e.target.value })} />
      <span class="faint small">${before[name] ? t("dialogs.limit_now", { value: count(Number(before[name])) }) : t("dialogs.limit_none_now")}</span></label>`)}
  </${RequestDialog}>`;
}
