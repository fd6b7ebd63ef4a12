/** Decisions in the reader's language: from their fields where there are words for them, else as the server tells them. */
import { number } from "../format.js";
import { fill, texts } from "../i18n.js";
import { lang, table } from "../state.js";

/**
 * @typedef {{kind: string, text: string, decision?: string | null, rule?: string | null, rung?: number | null, bracket?: number | null,
 *   value?: number | null, rank?: number | null, of?: number | null, cutoff?: number | null, source?: string | null,
 *   note?: string | null}} Told
 */

/**
 * Return a sentence of the server in the reader's language, if there are words for it, else as it is.
 *
 * @param {string} sentence
 * @returns {string}
 */
export function phrase(sentence) {
  for (const [pattern, words] of Object.entries(texts.value[lang.value]?.phrases ?? {})) {
    const found = sentence.match(new RegExp(`^(?:${pattern})$`));
    if (found) return words.replace(/([$%])(\d)/g, (_, sign, at) => (sign === "%" ? phrase(found[at]) : found[at]));
  }
  return sentence;
}

/** @param {Told} told @returns {string} */
export function decisionText(told) {
  const words = texts.value[lang.value]?.decisions;
  const isPassed = told.kind === "passed";
  if (!words || (!isPassed && (told.kind !== "ruled" || !told.rule || !words[told.decision ?? ""]))) {
    return told.kind === "note" ? told.text : phrase(told.text);
  }
  const { rule, rung, bracket, value, rank, of, cutoff, source, note } = told;
  /** @param {string} word @param {Record<string, any>} values */
  const say = (word, values = {}) => fill(words[word], Object.fromEntries(Object.entries(values).map(([name, one]) => [name, typeof one === "number" ? number(one) : one])));
  const parts = [];
  if (typeof value === "number" && (rank || cutoff || rung)) parts.push(say("is", { metric: table.value.goals[0]?.[0] ?? "", value }));
  if (rank) parts.push(say(of ? "place" : "rank", { rank, of }));
  if (typeof cutoff === "number") parts.push(say("cutoff", { cutoff }));
  if (note) parts.push(phrase(note));
  const group = bracket ? say("in_bracket", { bracket }) : "";
  const at = (rung ? say("at", { rung }) : "") + group;
  const from = source ? say("from", { source }) : "";
  const head = isPassed ? say("passed", { rung }) + group
    : rule === "stop" ? say("by_condition") : say("by", { rule: (rule ?? "").replaceAll("_", " "), decided: words[told.decision ?? ""] }) + from + at;
  return parts.length ? `${head}：${parts.join("，")}` : head;
}

/**
 * A trial's verdict: its last decision, if that is what the server tells.
 * @param {{id: string, verdict: string, story: Told[]}} page
 */
export function verdictText({ id, verdict, story }) {
  const last = story.filter(({ kind, decision }) => kind === "ruled" && decision !== "save").at(-1);
  const text = last && decisionText(last);
  const isTold = last && text !== last.text && [`${id} was ${last.text}.`, `${id} ${last.text}.`].includes(verdict);
  if (isTold) return `${id} ${text}。`;
  const rest = verdict.startsWith(`${id} `) ? verdict.slice(id.length + 1).replace(/\.$/, "") : "";
  return phrase(rest) === rest ? verdict : `${id} ${phrase(rest)}。`;
}
