/** The output of a trial: follows while it runs, can be paused, read back and searched. */

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../html.js";
import { count } from "../../format.js";
import { t } from "../../i18n.js";
import { experiment, source } from "../../state.js";
import { Button } from "../../ui/button.js";
import { piecesOf, plainText, SHOWN_AT_ONCE } from "../log_text.js";

/** @typedef {{key: number, stream: string, text: string, cut: number}} Line */

const MOST_LINES = 5000;
const EVERY_MS = 1000;
const MORE_CHARACTERS = 20_000;
const NOTHING = { before: /** @type {any} */ (null), after: /** @type {any} */ (null), isKnown: false, reason: "" };

/** @param {{trial: string, isRunning: boolean}} props */
export function Log({ trial, isRunning }) {
  const [lines, setLines] = useState(/** @type {Line[]} */ ([]));
  const [ends, setEnds] = useState(NOTHING);
  const [error, setError] = useState("");
  const [isPaused, setPaused] = useState(false);
  const [sought, setSought] = useState("");
  const box = useRef(/** @type {any} */ (null));
  const isAtEnd = useRef(true);
  const keys = useRef({ first: 0, last: 0 });
  const latest = useRef(ends);
  latest.current = ends;
  const isLive = useRef(isRunning);
  isLive.current = isRunning;
  const isAsking = useRef(false);
  const isAgain = useRef(false);

  /** Ask for what is new: after the answer that is on its way, which may be from before it. */
  function askNew() {
    if (isAsking.current || !latest.current.isKnown) isAgain.current = true;
    else ask({ after: latest.current.after ?? undefined });
  }

  /** @param {{before?: any, after?: any}} at */
  async function ask(at) {
    if (at.before === undefined) isAsking.current = true;
    try {
      const answer = await /** @type {import("../../data/source.js").Source} */ (source.value).log(experiment.value, trial, at);
      setError("");
      if (at.before !== undefined) {
        const older = answer.lines.map((/** @type {Line} */ line, /** @type {number} */ i) => ({ ...line, key: keys.current.first - answer.lines.length + i }));
        keys.current.first -= answer.lines.length;
        setLines((known) => [...older, ...known].slice(0, MOST_LINES));
        setEnds((known) => ({ ...known, before: answer.before }));
      } else {
        const isFirst = at.after === undefined;
        const newer = answer.lines.map((/** @type {Line} */ line) => ({ ...line, key: (keys.current.last += 1) }));
        if (newer.length > 0 && !isFirst && !isLive.current) isAgain.current = true; // an answer has so many lines at most
        if (newer.length > 0 || isFirst) setLines((known) => [...(isFirst ? [] : known), ...newer].slice(-MOST_LINES));
        setEnds((known) => ({ before: isFirst ? answer.before : known.before, after: answer.after, isKnown: true, reason: answer.reason ?? "" }));
      }
    } catch (problem) {
      setError(String(/** @type {Error} */ (problem).message));
      setEnds((known) => ({ ...known, isKnown: true }));
    }
    if (at.before === undefined) isAsking.current = false;
  }

  useEffect(() => void ask({}), []);
  useEffect(() => {
    if (!isAgain.current || isAsking.current || !ends.isKnown) return;
    isAgain.current = false;
    askNew();
  }, [ends]);
  useEffect(() => {
    if (!isRunning || isPaused) {
      if (!isRunning && !isPaused) askNew(); // its last words
      return undefined;
    }
    const timer = setInterval(() => !document.hidden && !isAsking.current && askNew(), EVERY_MS);
    return () => clearInterval(timer);
  }, [isRunning, isPaused]);
  useLayoutEffect(() => {
    if (isAtEnd.current && !isPaused && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);

  const wanted = sought.toLowerCase();
  const shown = wanted === "" ? lines : lines.filter((line) => plainText(line.text).toLowerCase().includes(wanted));
  return html`<section class="panel log">
    <header class="panel-head"><h2>${t("tables.log")}</h2><div class="view-tools">
      <input type="search" value=${sought} aria-label=${t("tables.log_search")} placeholder=${t("tables.log_search")}
        onInput=${(/** @type {any} */ event) => setSought(event.target.value)} />
      ${wanted !== "" && html`<span class="faint" role="status">${t("tables.log_found", { n: shown.length })}</span>`}
      ${isRunning && html`<${Button} small=${true} isPressed=${isPaused} label=${t(isPaused ? "tables.log_follow" : "tables.log_pause")} onClick=${() => setPaused(!isPaused)} />`}
    </div></header>
    ${error && html`<p class="field-error" role="alert">${error}</p>`}
    <div class="log-box" ref=${box} tabindex="0" role="log" aria-label=${t("tables.log")} aria-live="off"
      onScroll=${(/** @type {any} */ event) => (isAtEnd.current = event.target.scrollHeight - event.target.scrollTop - event.target.clientHeight < 24)}>
      ${ends.before !== null && ends.before !== undefined && html`<${Button} small=${true} label=${t("tables.log_older")} onClick=${() => ask({ before: ends.before })} />`}
      ${ends.isKnown && lines.length === 0 && !error && html`<p class="faint">${ends.reason || t(isRunning ? "tables.log_nothing_yet" : "tables.log_nothing")}</p>`}
      ${shown.map((line) => html`<${LogLine} key=${line.key} line=${line} />`)}
    </div>
  </section>`;
}

/** @param {{line: Line}} props */
function LogLine({ line }) {
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const { pieces, hidden } = piecesOf(line.text, most);
  return html`<div dir="ltr" class=${`log-line log-${line.stream}`}>${line.stream === "stderr" && html`<span class="hidden-text">stderr: </span>`}
    ${pieces.map(({ text, look }) => html`<bdi class=${look}>${text}</bdi>`)}
    ${hidden > 0 && html` <${Button} small=${true} label=${t("tables.log_more", { n: count(hidden) })} onClick=${() => setMost(most + MORE_CHARACTERS)} />`}
    ${hidden === 0 && line.cut > 0 && html` <span class="faint">${t("tables.log_left_out", { n: count(line.cut) })}</span>`}</div>`;
}
