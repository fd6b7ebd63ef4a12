/** What schedulers, stop conditions and people decided, newest first. */

import { html, useEffect, useRef, useState } from "../html.js";
import { duration, text } from "../format.js";
import { t } from "../i18n.js";
import { experiment, overview, route, setQuery, source, table } from "../state.js";
import { Button } from "../ui/button.js";
import { Empty, ErrorNote, Spinner } from "../ui/notes.js";
import { TrialName, TrialText } from "../tables/trial_text.js";
import { decisionText } from "../tables/decision_text.js";
import { kindOf, KINDS, merged } from "../tables/decision_list.js";

/** @typedef {import("../tables/decision_list.js").Decision} Decision */

const PAGE = 100;
const EVERY_MS = 1000;

export function DecisionsView() {
  const [trial, setTrial] = useState(route.value.query.trial ?? "");
  const [kind, setKind] = useState(route.value.query.kind ?? "");
  const [isPaused, setPaused] = useState(false);
  const known = table.value.rowOf(trial) >= 0 ? trial : "";
  const list = useDecisions(known, isPaused);
  const shown = list.decisions.filter((one) => (kind === "" || kindOf(one) === kind) && (known !== "" || (one.trial_id ?? "").includes(trial)));

  /** @param {string} name @param {string} value @param {(value: string) => void} set */
  function choose(name, value, set) {
    set(value);
    setQuery({ [name]: value || null });
  }
  return html`<header class="view-head"><h1>${t("tables.decisions")}</h1>
      <div class="view-tools">
        <input type="search" value=${trial} aria-label=${t("tables.decisions_trial")} placeholder=${t("tables.decisions_trial")}
          onInput=${(/** @type {any} */ event) => choose("trial", event.target.value.trim(), setTrial)} />
        <label class="choice">${t("tables.kind")}
          <select value=${kind} onChange=${(/** @type {any} */ event) => choose("kind", event.target.value, setKind)}>
            <option value="">${t("tables.kind_all")}</option>
            ${KINDS.map((name) => html`<option key=${name} value=${name}>${t(`tables.decided_${name}`)}</option>`)}</select></label>
        <${Button} small=${true} isPressed=${isPaused} label=${t(isPaused ? "tables.log_follow" : "tables.log_pause")} onClick=${() => setPaused(!isPaused)} />
      </div></header>
    ${list.error && html`<${ErrorNote} error=${list.error} onRetry=${list.reload} />`}
    ${!list.isKnown && !list.error && html`<${Spinner} />`}
    ${list.isKnown && shown.length === 0 && html`<${Empty} title=${t(list.decisions.length ? "tables.no_decisions_match" : "tables.no_decisions")}>
      ${list.decisions.length === 0 && html`<p>${t("tables.no_decisions_yet")}</p>`}</>`}
    ${shown.length > 0 && html`<section class="panel"><ol class="rulings" aria-label=${t("tables.decisions")}>
      ${shown.map((one, i) => html`<${DecisionLine} key=${`${one.n} ${one.trial_id} ${i - shown.findIndex((other) => other.n === one.n)}`} decision=${one} />`)}</ol></section>`}
    ${list.next !== null && html`<p><${Button} label=${t("tables.decisions_older")} isDisabled=${list.isLoading} onClick=${list.older} /></p>`}`;
}

/** @param {{decision: Decision}} props */
function DecisionLine({ decision }) {
  const { n, time, trial_id: trial, t: iteration, rung, who } = decision;
  return html`<li class=${`ruling ruling-${kindOf(decision)}`}>
    <span class="story-when faint" title=${t("tables.record", { n })}>${duration(time)}</span>
    <span class="ruling-trial cut">${trial && html`<${TrialName} id=${trial} />`}</span>
    <span class="ruling-text"><${TrialText} text=${decisionText(decision)} except=${trial ?? undefined} />
      ${typeof iteration === "number" && iteration !== rung && html`<span class="faint small"> ${t("tables.at_iteration", { t: text(iteration) })}</span>`}
      ${who && html`<span class="faint small"> ${t("tables.asked_by", { who })}</span>`}</span>
  </li>`;
}

/**
 * Keeps a list of decisions that grows at both ends.
 * @param {string} trial "" for all
 * @param {boolean} isPaused
 */
function useDecisions(trial, isPaused) {
  const subject = `${experiment.value} ${trial}`;
  const empty = { subject, decisions: /** @type {Decision[]} */ ([]), next: /** @type {number | null} */ (null), error: /** @type {any} */ (null), isKnown: false };
  const [state, setState] = useState(empty);
  const [isLoading, setLoading] = useState(false);
  const current = state.subject === subject ? state : empty;
  const wanted = useRef(subject);
  wanted.current = subject; // answers about what was wanted before come too late
  const running = useRef({ subject: "", isAgain: false });
  const [turn, setTurn] = useState(0);

  /** @param {number} [before] */
  async function ask(before) {
    const isNews = before === undefined;
    if (isNews && running.current.subject === subject) {
      running.current.isAgain = true; // its answer may be from before the newest decision
      return;
    }
    if (isNews) running.current = { subject, isAgain: false };
    const mine = running.current;
    setLoading(before !== undefined);
    try {
      const at = { limit: PAGE, ...(trial ? { trial } : {}), ...(before === undefined ? {} : { before }) };
      const answer = await /** @type {import("../data/source.js").Source} */ (source.value).decisions(experiment.value, at);
      if (wanted.current === subject) setState((old) => {
        const own = old.subject === subject && old.isKnown ? old : null;
        const joined = merged(own?.decisions ?? [], answer.decisions, before === undefined);
        const isGap = before === undefined && own !== null && !joined.isTouching;
        const next = own === null || before !== undefined || isGap ? (answer.next ?? null) : own.next;
        return { subject, decisions: joined.decisions, next, error: null, isKnown: true };
      });
    } catch (error) {
      if (wanted.current === subject) setState((old) => ({ ...(old.subject === subject ? old : empty), error }));
    }
    setLoading(false);
    if (!isNews || running.current !== mine) return;
    running.current = { subject: "", isAgain: false };
    if (mine.isAgain) setTurn((times) => times + 1);
  }
  const n = overview.value?.n ?? table.value.n;
  const version = table.value.version.value;
  const last = useRef({ subject: "", at: 0 });
  useEffect(() => {
    if (isPaused) return undefined;
    const wait = last.current.subject === subject ? Math.max(0, last.current.at + EVERY_MS - performance.now()) : 0;
    const timer = setTimeout(() => {
      last.current = { subject, at: performance.now() };
      ask();
    }, wait);
    return () => clearTimeout(timer);
  }, [subject, n, version, isPaused, turn]);
  return { ...current, isLoading, older: () => ask(current.next ?? undefined), reload: () => ask() };
}
