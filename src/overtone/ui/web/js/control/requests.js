/** Requests that change a run: sent once, answered by the number of a record in the journal. */
import { duration, count } from "../format.js";
import { t } from "../i18n.js";
import { experiment, link, overview, source } from "../state.js";
import { toast } from "../ui/toasts.js";

/** Requests that can be recorded while no driver runs: they take effect at the next resume. */
const WITHOUT_DRIVER = ["add", "clone", "note", "limits", "priority"];

/** By verb, the states of a trial in which it can be asked for. */
const BY_STATE = {
  stop_trial: ["PENDING", "STARTING", "RUNNING", "HALTING", "PAUSED", "PARKED"],
  pause: ["PENDING", "STARTING", "RUNNING"],
  resume: ["PAUSED", "PARKED"],
  save: ["RUNNING"],
  priority: ["PENDING", "STARTING", "RUNNING", "PAUSED", "PARKED"],
};

/** Milliseconds after an answer in which the same click is still the same one. */
const DOUBLE_CLICK_MS = 700;

/** @type {Set<string>} */
const underway = new Set();

/** @returns {string} An id: equal ids are one request. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @returns {boolean} Whether a driver runs that could take a request. */
export function hasDriver() {
  const state = overview.value?.state;
  return state === "running" || state === "stopping";
}

/**
 * Return whether a verb is offered now: for the experiment, or for a trial in a state.
 *
 * @param {string} verb
 * @param {string} [status] The word of the trial's status.
 */
export function isPossible(verb, status) {
  if (!source.value?.can.act || !overview.value || overview.value.state === "damaged") return false;
  if (!hasDriver() && !WITHOUT_DRIVER.includes(verb)) return false;
  if (verb === "stop") return overview.value.state === "running";
  const states = /** @type {Record<string, string[]>} */ (BY_STATE)[verb];
  return status === undefined || !states || states.includes(status);
}

/**
 * Send a request, and say what came of it.
 *
 * @param {string} verb
 * @param {string} trial "" for the experiment.
 * @param {Record<string, any>} args
 * @param {string} id
 * @returns {Promise<any>} The answer.
 * @throws {import("../data/source.js").SourceError}
 */
export async function ask(verb, trial, args, id) {
  const began = performance.now();
  const answer = await /** @type {any} */ (source.value).act(experiment.value, verb, trial, args, id);
  const seconds = (performance.now() - began) / 1000;
  const what = t(`shell.asked_${verb}`, { trial, made: answer.trial_id ?? "" });
  const values = { what, took: duration(seconds), n: count(answer.n ?? 0) };
  const isWaiting = answer.waits ?? !hasDriver();
  toast({
    kind: "done",
    text: t(isWaiting ? "shell.asked_waits" : "shell.asked_done", values),
    href: answer.n ? link("decisions", "", { n: String(answer.n) }) : undefined,
    linkText: t("shell.see_record"),
  });
  return answer;
}

/**
 * Ask at once, without a dialog. The clicks of a double click are one request.
 *
 * @param {string} verb
 * @param {string} trial
 * @param {Record<string, any>} [args]
 */
export async function askNow(verb, trial, args = {}) {
  const key = `${verb} ${trial}`;
  if (underway.has(key)) return;
  underway.add(key);
  try {
    await ask(verb, trial, args, newId());
  } catch (error) {
    toast({ kind: "failed", text: String(/** @type {Error} */ (error).message) });
  } finally {
    setTimeout(() => underway.delete(key), DOUBLE_CLICK_MS);
  }
}
