/** Completes names, values and connectives in a filter expression. */

import { levelText } from "./compile.js";
import { FilterError } from "./filter_error.js";
import { STATUSES } from "./statuses.js";
import { columnOf, nameable } from "./names.js";
import { quoted, tokenise } from "./tokens.js";

/** @typedef {import("./names.js").Columns} Columns */
/** @typedef {import("./tokens.js").Token} Token */

/**
 * @typedef {object} Completion
 * @property {string} text to be put into the expression
 * @property {string} label
 * @property {"param" | "metric" | "fact" | "value" | "operator"} kind
 */

const MOST_SHOWN = 12;
const COMPARISONS = ["<", "<=", ">", ">=", "==", "!=", "~", "in", "is", "contains"];

/**
 * @param {string} text
 * @param {number} caret
 * @param {Columns} table
 * @returns {{start: number, end: number, completions: Completion[]}} what the completions replace
 */
export function complete(text, caret, table) {
  const tokens = tokensBefore(text, caret);
  if (tokens === null) return { start: caret, end: caret, completions: [] };
  const last = tokens.at(-1);
  const isPartial = last !== undefined && last.end === caret && last.kind !== "operator";
  const begun = isPartial ? tokens.pop() : undefined;
  const start = begun?.start ?? caret;
  const sought = (begun?.text ?? "").toLowerCase();
  const all = begun?.kind === "number" ? [] : candidates(tokens, table);
  const completions = all.filter((one) => one.label.toLowerCase().includes(sought) && one.text !== begun?.text);
  completions.sort((a, b) => Number(b.label.toLowerCase().startsWith(sought)) - Number(a.label.toLowerCase().startsWith(sought)));
  return { start, end: caret, completions: completions.slice(0, MOST_SHOWN) };
}

/**
 * Returns the tokens before the caret; null if it stands where nothing can be completed.
 * @param {string} text
 * @param {number} caret
 */
function tokensBefore(text, caret) {
  const before = text.slice(0, caret);
  for (const closed of [before, `${before}"`, `${before}'`, `${before}\``]) {
    try {
      const tokens = tokenise(closed).slice(0, -1);
      const last = tokens.at(-1);
      if (last !== undefined && closed !== before) last.end = caret;
      return tokens;
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
    }
  }
  return null;
}

/**
 * @param {Token[]} tokens before the one that is completed
 * @param {Columns} table
 * @returns {Completion[]}
 */
function candidates(tokens, table) {
  const last = tokens.at(-1);
  const isInverse = last?.text === "not" && tokens.at(-2)?.text !== "is";
  if (last === undefined || isInverse || ["and", "or"].includes(last.text)) return names(table);
  if (last.kind === "operator" && last.text !== ")") return afterOperator(tokens, last, table);
  const isComplete = last.text === ")" || (tokens.at(-2)?.kind === "operator" && isComparison(tokens.at(-2)));
  return (isComplete ? ["and", "or"] : COMPARISONS).map(operator);
}

/**
 * @param {Token[]} tokens
 * @param {Token} last
 * @param {Columns} table
 */
function afterOperator(tokens, last, table) {
  const open = tokens.findLastIndex((token) => token.text === "(");
  const isInList = tokens[open - 1]?.text === "in";
  if (!isInList && (last.text === "(" || last.text === ",")) return names(table);
  const at = isInList ? open - 1 : tokens.length - 1;
  const named = tokens[["is", "not"].includes(tokens[at - 1]?.text) ? at - 2 : at - 1];
  return named === undefined ? names(table) : valuesOf(named, table);
}

/** @param {Token | undefined} token */
function isComparison(token) {
  return token !== undefined && !["and", "or", "not", "(", ","].includes(token.text);
}

/**
 * @param {Columns} table
 * @returns {Completion[]}
 */
function names(table) {
  return nameable(table).map((column) => ({ text: quoted(column.name), label: column.name, kind: column.group }));
}

/**
 * @param {Token} name
 * @param {Columns} table
 * @returns {Completion[]}
 */
function valuesOf(name, table) {
  const operand = { ...name, kind: /** @type {const} */ ("name"), part: /** @type {const} */ ("") };
  const column = columnOf(operand, table);
  if (column === null) return [];
  const levels = column.key === "fact:status" ? STATUSES : (column.levels ?? []).slice(0, 1000).map(levelText);
  return [...levels, "missing"].map((level) => ({ text: quoted(level), label: level, kind: "value" }));
}

/**
 * @param {string} text
 * @returns {Completion}
 */
function operator(text) {
  return { text, label: text, kind: "operator" };
}
