/** What can be asked for an experiment or a trial, as buttons; nothing where nothing can be asked. */
import { html } from "../html.js";
import { openDialog } from "../control/dialogs.js";
import { askNow, isPossible } from "../control/requests.js";
import { t } from "../i18n.js";
import { connection } from "../state.js";
import { Button } from "./button.js";
import { Menu } from "./menu.js";

/**
 * Ask at once. The second click of a double click is none: another button may stand there by then.
 *
 * @param {string} verb
 * @param {string} trial
 */
function onClick(verb, trial) {
  return (/** @type {MouseEvent} */ event) => void (event.detail < 2 && askNow(verb, trial));
}

/** Buttons that stay while the connection is lost, and cannot be pressed then. @param {{name: string, children?: any}} props */
function Group({ name, children }) {
  return html`<fieldset class="actions" disabled=${connection.value === "lost"} aria-label=${name}>${children}</fieldset>`;
}

/**
 * Buttons for a trial. A pause is undone by resume, so it asks nothing; what ends the trial asks first.
 *
 * @param {{trial: string, row?: number, status: string, small?: boolean}} props `status` is the word of Status.
 */
export function TrialActions({ trial, status, small = false }) {
  const can = (/** @type {string} */ verb) => isPossible(verb, status);
  const more = [
    can("save") && { label: t("shell.save"), onClick: () => askNow("save", trial) },
    can("priority") && { label: t("shell.priority_open"), onClick: () => openDialog("priority", trial) },
    can("note") && { label: t("shell.note_open"), onClick: () => openDialog("note", trial) },
  ].filter((item) => !!item);
  if (!can("clone") && !more.length) return null;
  return html`<${Group} name=${t("shell.actions_trial", { trial })}>
    ${can("pause") && html`<${Button} small=${small} label=${t("shell.pause")} onClick=${onClick("pause", trial)} />`}
    ${can("resume") && html`<${Button} small=${small} label=${t("shell.resume")} onClick=${onClick("resume", trial)} />`}
    ${can("clone") && html`<${Button} small=${small} label=${t("shell.clone_open")} onClick=${() => openDialog("clone", trial)} />`}
    ${can("stop_trial") && html`<${Button} small=${small} kind="danger" label=${t("shell.stop_trial_open")} onClick=${() => openDialog("stop_trial", trial)} />`}
    ${more.length > 0 && html`<${Menu} small=${small} label="…" name=${t("shell.more_actions")} items=${more} />`}
  </${Group}>`;
}

/** Buttons for the experiment. */
export function ExperimentActions() {
  if (!isPossible("add")) return null;
  return html`<${Group} name=${t("shell.actions_experiment")}>
    <${Button} label=${t("shell.add_open")} onClick=${() => openDialog("add")} />
    <${Button} label=${t("shell.limits_open")} onClick=${() => openDialog("limits")} />
    <${Button} label=${t("shell.note_open")} onClick=${() => openDialog("note")} />
    ${isPossible("stop") && html`<${Button} kind="danger" label=${t("shell.stop_open")} onClick=${() => openDialog("stop")} />`}
  </${Group}>`;
}
