/** Everything that can be done from here, for the palette: views, trials, requests. */
import { t } from "../i18n.js";
import { goalNow, go, me, overview, route, table, address } from "../state.js";
import { KEYED } from "../ui/navigation.js";
import { VIEWS } from "../router.js";
import { openDialog } from "./dialogs.js";
import { askNow, isPossible } from "./requests.js";

/** @typedef {{label: string, hint?: string, run: () => void}} Command */

const MOST_TRIALS = 8;

/** @returns {Command[]} Those that are possible now, the most likely first. */
export function commandsNow() {
  return [...trialCommands(), ...experimentCommands(), ...viewCommands()];
}

/**
 * @param {Command[]} commands
 * @param {string} text What was typed.
 * @returns {Command[]} Those that match, then trials of this name. A number is first that of a trial.
 */
export function matching(commands, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return commands;
  const found = [commands.filter(({ label }) => label.toLowerCase().includes(wanted)), trialsNamed(wanted)];
  return (isNumber(wanted) ? found.reverse() : found).flat();
}

/** The trial that the page shows, with what can be asked for it. @returns {Command[]} */
function trialCommands() {
  const { view, trial } = route.value;
  const status = view === "trial" ? statusOf(trial) : "";
  if (!status) return [];
  const verbs = ["pause", "resume", "save", "clone", "stop_trial", "priority", "note"].filter((verb) => isPossible(verb, status));
  return verbs.map((verb) => ({
    label: t(`shell.do_${verb}`, { trial }),
    run: () => (["pause", "resume", "save"].includes(verb) ? askNow(verb, trial) : openDialog(verb, trial)),
  }));
}

/** @returns {Command[]} */
function experimentCommands() {
  if (!overview.value) return [];
  const best = overview.value.goals?.[0]?.best;
  const commands = ["add", "limits", "note", "stop"].filter((verb) => isPossible(verb)).map((verb) => (
    { label: t(`shell.do_${verb}_experiment`), run: () => openDialog(verb) }));
  if (me.value?.is_demo && isPossible("stop")) commands.push({ label: t("shell.do_kill_driver"), run: () => openDialog("kill_driver") });
  if (best && goalNow()) commands.unshift({ label: t("shell.do_best", { trial: best.trial_id }), run: () => go("trial", best.trial_id) });
  return commands;
}

/** @returns {Command[]} */
function viewCommands() {
  const list = { label: t("shell.view_experiments"), run: () => address.open("#/") };
  if (!route.value.experiment) return [list];
  const views = VIEWS.filter((name) => name !== "trial").map((name) => (
    { label: t(`shell.view_${name}`), hint: hintOf(name), run: () => go(name) }));
  return [...views, list];
}

/** @param {string} view */
function hintOf(view) {
  const at = KEYED.indexOf(view);
  return at < 0 ? undefined : String(at + 1);
}

/** @param {string} text */
function isNumber(text) {
  return /^\d+$/.test(text);
}

/** The trial of this number, then those with the text in their name. @param {string} text @returns {Command[]} */
function trialsNamed(text) {
  const { ids } = table.value;
  const numbered = isNumber(text) ? ids[Number(text)] : undefined;
  const found = numbered ? [numbered] : [];
  for (const id of ids) {
    if (found.length >= MOST_TRIALS) break;
    if (id !== numbered && id.toLowerCase().includes(text)) found.push(id);
  }
  return found.map((id) => ({ label: t("shell.do_open_trial", { trial: id }), run: () => go("trial", id) }));
}

/** @param {string} trial */
function statusOf(trial) {
  const row = table.value.rowOf(trial);
  const column = table.value.column("fact:status");
  return row < 0 || !column ? "" : (column.levels?.[column.values[row]] ?? "");
}
