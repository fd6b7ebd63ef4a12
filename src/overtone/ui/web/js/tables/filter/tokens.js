/** Splits a filter expression into tokens, in time proportional to its length. */

import { FilterError } from "./filter_error.js";

/**
 * @typedef {object} Token
 * @property {"number" | "word" | "text" | "name" | "operator" | "end"} kind "text" is in quotes, "name" in backticks
 * @property {string} text the content: without quotes, and operators in their usual form
 * @property {number} value of a number; otherwise 0
 * @property {number} start
 * @property {number} end
 */

const LONGEST_EXPRESSION = 2000;

const SPACE = /\s+/uy;
const NUMBER = /[+-]?(?:inf(?:inity)?|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:e[+-]?\d+)?)(ms|min|s|h|d|k|m)?(?![\p{L}\p{M}\p{N}_./:-])/iuy;
const WORD = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_./:-]*/uy;
const QUOTED = /(["'`])((?:\\[^]|(?!\1)[^\\])*)\1/uy;
const OPERATOR = /<=|>=|==|!=|<>|!~|&&|\|\||[<>=!~&|()[\],≤≥≠]/uy;

/** @type {Record<string, number>} */
const UNITS = { ms: 0.001, s: 1, min: 60, h: 3600, d: 86400, k: 1e3, m: 1e6 };

/** @type {Record<string, string>} */
const USUAL = {
  "=": "==", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">=", "&&": "and", "&": "and", "||": "or", "|": "or",
  "!": "not", "[": "(", "]": ")",
}; // prettier-ignore

/** Words that are never bare names of columns. */
const KEYWORDS = new Set(["and", "or", "not", "in", "is", "contains", "missing"]);

/**
 * @param {string} text
 * @returns {Token[]} the last one is of kind "end"
 */
export function tokenise(text) {
  if (text.length > LONGEST_EXPRESSION) {
    throw new FilterError("too_long", { start: LONGEST_EXPRESSION, end: text.length }, { most: LONGEST_EXPRESSION });
  }
  const typed = text.replace(/[！＆（），＜＝＞［］｜～]/gu, (c) => String.fromCharCode(c.charCodeAt(0) - 0xfee0));
  /** @type {Token[]} */
  const tokens = [];
  let at = 0;
  while (at < text.length) {
    const space = matchAt(SPACE, text, at);
    if (space) {
      at += space[0].length;
      continue;
    }
    const token = tokenAt(text, typed, at);
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: "end", text: "", value: 0, start: at, end: at });
  return tokens;
}

/**
 * @param {string} text
 * @param {string} typed the same with ASCII operators instead of full-width ones
 * @param {number} at
 * @returns {Token}
 */
function tokenAt(text, typed, at) {
  const number = matchAt(NUMBER, text, at);
  if (number) {
    const digits = number[0].slice(0, number[0].length - (number[1] ?? "").length).replaceAll("_", "");
    const isInfinite = digits.toLowerCase().includes("inf");
    const size = isInfinite ? Infinity * (digits.startsWith("-") ? -1 : 1) : Number(digits);
    const value = size * (UNITS[(number[1] ?? "").toLowerCase()] ?? 1);
    return { kind: "number", text: number[0], value, start: at, end: at + number[0].length };
  }
  const word = matchAt(WORD, text, at);
  if (word) {
    const lower = word[0].toLowerCase();
    const isKeyword = KEYWORDS.has(lower);
    const kind = isKeyword && lower !== "missing" ? "operator" : "word";
    return { kind, text: isKeyword ? lower : word[0], value: 0, start: at, end: at + word[0].length };
  }
  const quoted = matchAt(QUOTED, text, at);
  if (quoted) {
    const content = quoted[2].replace(/\\([^])/gu, "$1");
    const kind = quoted[1] === "`" ? "name" : "text";
    return { kind, text: content, value: 0, start: at, end: at + quoted[0].length };
  }
  const operator = matchAt(OPERATOR, typed, at);
  if (operator) {
    const usual = USUAL[operator[0]] ?? operator[0];
    return { kind: "operator", text: usual, value: 0, start: at, end: at + operator[0].length };
  }
  const odd = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if ("\"'`".includes(odd)) throw new FilterError("open_quote", { start: at, end: text.length }, { quote: odd });
  throw new FilterError("odd_character", { start: at, end: at + odd.length }, { found: odd });
}

/**
 * @param {RegExp} pattern a sticky one
 * @param {string} text
 * @param {number} at
 */
function matchAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/**
 * Writes a name as an expression needs it: bare if possible, otherwise in quotes.
 * @param {string} name
 */
export function quoted(name) {
  const word = matchAt(WORD, name, 0);
  const number = matchAt(NUMBER, name, 0);
  const isBare = word?.[0] === name && number === null && !KEYWORDS.has(name.toLowerCase()) && !CONSTANTS.has(name.toLowerCase());
  return isBare ? name : `"${name.replace(/["\\]/gu, "\\$&")}"`;
}

/** Words that stand for a value rather than for a column. */
export const CONSTANTS = new Set(["true", "false", "none", "null", "nan"]);
