/** What happened to a trial, step by step, as `overtone why` tells it. */

import { html } from "../../html.js";
import { duration, text } from "../../format.js";
import { t } from "../../i18n.js";
import { decisionText, phrase } from "../decision_text.js";
import { TrialText } from "../trial_text.js";

/**
 * @typedef {{n: number, time: number, t: number | null, kind: string, text: string, lines: string[],
 *   decision: string | null}} Step
 */

/** @param {{steps: Step[], trial: string}} props */
export function StoryList({ steps, trial }) {
  if (steps.length === 0) return html`<p class="faint">${t("tables.no_story")}</p>`;
  return html`<ol class="story">
    ${steps.map((step) => html`<li key=${`${step.n} ${step.kind}`} class=${`story-step story-${step.decision ?? step.kind}`}>
      <span class="story-when faint" title=${t("tables.record", { n: step.n })}>${duration(step.time)}</span>
      <span class="story-when faint">${step.t === null ? "" : t("tables.iteration_short", { t: text(step.t) })}</span>
      <div class="story-what"><${TrialText} text=${decisionText(step)} except=${trial} />
        ${step.lines.map((line) => html`<div class="faint small"><${TrialText} text=${phrase(line)} except=${trial} /></div>`)}</div>
    </li>`)}
  </ol>`;
}
