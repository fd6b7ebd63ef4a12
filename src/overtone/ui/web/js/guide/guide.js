/** The panel of `overtone demo`: three things to try on a run that goes on, and the way to one's own. */
import { newId } from "../control/requests.js";
import { html, signal, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { experiment, go, me, overview, source, table } from "../state.js";
import { Button } from "../ui/button.js";
import { AddForm, added } from "./add.js";
import { CODE } from "./code.js";
import { NONE, asked, followed } from "./kill.js";

/** @typedef {import("./kill.js").Kill} Kill */

/** @type {import("../html.js").Signal<Kill>} */
const kill = signal(NONE);
const hasAskedWhy = signal(false);
const whyError = signal("");
const isSheet = () => typeof matchMedia === "function" && matchMedia("(max-width: 1199px)").matches;
const isFolded = signal(isSheet());

export function Guide() {
  const now = overview.value;
  useEffect(() => {
    kill.value = followed(kill.value, overview.value, performance.now() / 1000);
  }, [now]);
  if (!me.value?.is_demo || !now) return null;
  const isOver = now.state === "finished";
  const done = [hasAskedWhy.value, kill.value.phase === "resumed", added.value !== null];
  const fold = () => (isFolded.value = !isFolded.value);
  return html`<aside class=${`guide${isFolded.value ? " is-folded" : ""}`} aria-label=${t("guide.title")}>
    <button type="button" class="guide-bar" aria-expanded=${!isFolded.value} aria-controls="guide-steps" onClick=${fold}>
      <span>${t("guide.title")}</span>
      <span class="guide-count">${t("guide.progress", { done: done.filter(Boolean).length, all: done.length })}</span>
    </button>
    <div id="guide-steps" class="guide-steps" hidden=${isFolded.value}>
      <p>${t(isOver ? "guide.intro_over" : "guide.intro", { slots: now.slots?.of ?? now.slots?.total ?? 1, planned: now.planned ?? 60 })}</p>
      <ol>
        <${Step} n=${1} isDone=${done[0]} title=${t("guide.why_title")} text=${t("guide.why_text")}><${Why} /><//>
        <${Step} n=${2} isDone=${done[1]} title=${t("guide.kill_title")} text=${t("guide.kill_text")}>
          <${KillStep} isOver=${isOver} />
        <//>
        <${Step} n=${3} isDone=${done[2]} title=${t("guide.add_title")} text=${t("guide.add_text")}>
          <${AddForm} isOver=${isOver} />
        <//>
        <${Step} n=${4} isDone=${false} title=${t("guide.own_title")} text=${t("guide.own_text")}><${Own} /><//>
      </ol>
    </div>
  </aside>`;
}

/** @param {{n: number, isDone: boolean, title: string, text: string, children?: any}} props */
function Step({ n, isDone, title, text, children }) {
  return html`<li class=${isDone ? "guide-step is-done" : "guide-step"}>
    <h3><span class="guide-mark" aria-hidden="true">${isDone ? "✓" : n}</span>${title}
      ${isDone && html`<span class="hidden-text">${t("guide.done")}</span>`}</h3>
    <p>${text}</p>
    ${children}
  </li>`;
}

function Why() {
  return html`<${Button} label=${t("guide.why_do")} onClick=${showStopped} />
    <p class="guide-note" role="status">${whyError.value}</p>`;
}

/** Show the story of the trial that was stopped last. */
async function showStopped() {
  whyError.value = "";
  try {
    const trial = stoppedIn(overview.value?.decisions ?? overview.value?.last_decisions)
      ?? stoppedIn((await source.value?.decisions(experiment.value, { limit: 200 }))?.decisions);
    if (!trial) {
      whyError.value = t("guide.why_none");
      return;
    }
    hasAskedWhy.value = true;
    isFolded.value = isSheet(); // a sheet would cover the answer
    go("trial", trial);
  } catch (error) {
    whyError.value = String(/** @type {Error} */ (error).message);
  }
}

/**
 * @param {any[] | undefined} decisions Newest first.
 * @returns {string | undefined} The trial that a scheduler stopped last.
 */
export function stoppedIn(decisions) {
  const found = decisions?.find((one) => /stop/i.test(one.decision ?? one.kind ?? "") && (one.trial_id ?? one.trial));
  return found && (found.trial_id ?? found.trial);
}

/** @param {{isOver: boolean}} props */
function KillStep({ isOver }) {
  const { phase, records, tookS, newPid, error } = kill.value;
  const isBusy = phase === "asked" || phase === "killed";
  const pid = overview.value?.driver?.pid;
  const text = {
    none: "",
    asked: t("guide.kill_asked"),
    killed: t("guide.kill_killed", { records }),
    resumed: t("guide.kill_resumed", { records, next: records + 1, pid: String(newPid), s: tookS.toFixed(1) }),
    refused: error,
  }[phase];
  return html`<${Button} kind="danger" isDisabled=${isBusy || isOver || !pid} onClick=${sendKill}
      label=${pid ? t("guide.kill_do", { pid: String(pid) }) : t("guide.kill_gone")} />
    <p class="guide-note" role="status">${isOver && phase === "none" ? t("guide.over") : text}</p>`;
}

async function sendKill() {
  kill.value = asked(overview.value, table.value.n, performance.now() / 1000);
  go("overview");
  try {
    await source.value?.act(experiment.value, "kill_driver", "", {}, newId());
  } catch (error) {
    kill.value = { ...NONE, phase: "refused", error: String(/** @type {Error} */ (error).message) };
  }
}

function Own() {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(CODE);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return html`<pre class="guide-code" tabindex="0"><code>${CODE}</code></pre>
    <${Button} label=${isCopied ? t("guide.own_copied") : t("guide.own_copy")} onClick=${copy} />`;
}
