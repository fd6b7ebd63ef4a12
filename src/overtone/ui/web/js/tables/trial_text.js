/** A sentence in which the names of trials are links. */

import { html } from "../html.js";
import { link, table } from "../state.js";

const WORD = /[\p{L}\p{N}_][\p{L}\p{N}_.-]*[\p{L}\p{N}_]/gu;
const LONGEST = 4000;

/** @param {{text: string, except?: string}} props `except` is the trial whose page this is */
export function TrialText({ text, except }) {
  const shown = text.slice(0, LONGEST).replaceAll(" -> ", "\u00a0→ "); // no line ends within an arrow
  const parts = [];
  let at = 0;
  for (const match of shown.matchAll(WORD)) {
    if (match[0] === except || table.value.rowOf(match[0]) < 0) continue;
    parts.push(shown.slice(at, match.index), html`<${TrialName} id=${match[0]} />`);
    at = match.index + match[0].length;
  }
  parts.push(shown.slice(at), text.length > LONGEST ? "…" : "");
  return html`<bdi class="anywhere">${parts}</bdi>`;
}

/** @param {{id: string}} props */
export function TrialName({ id }) {
  return html`<a class="trial-link" href=${link("trial", id)}><bdi>${id}</bdi></a>`;
}
