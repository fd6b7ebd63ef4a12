/** The fields of a config: one per hyperparameter that the experiment knows, as text and back. */

import { json } from "../format.js";

/**
 * @typedef {import("../data/table.js").Column} Column
 * @typedef {{name: string, kind: "number" | "choice" | "json", options: any[], isInteger: boolean, isLog: boolean,
 *   low: number, high: number}} Field
 */

const MOST_OPTIONS = 50;
/** Longer texts of trials come cut. */
const LONGEST = 300;

/**
 * @param {Iterable<Column>} columns
 * @param {import("../data/table.js").Domain[]} [space]
 * @returns {Field[]} Those of the space first. Options are those of the space, then others that some trial has.
 */
export function fieldsOf(columns, space = []) {
  const tried = new Map([...columns].filter(({ group }) => group === "param").map((column) => [column.name, column]));
  const domains = new Map(space.map((domain) => [domain.name, domain]));
  return [...new Set([...domains.keys(), ...tried.keys()])].map((name) => fieldOf(name, tried.get(name), domains.get(name)));
}

/**
 * @param {string} name
 * @param {Column} [column]
 * @param {import("../data/table.js").Domain} [domain]
 * @returns {Field}
 */
function fieldOf(name, column, domain) {
  const known = [...(domain?.options ?? []), ...(column?.levels ?? []).filter((level) => level !== undefined && !(level?.length > LONGEST))];
  const options = [...new Map(known.map((option) => [json(option), option])).values()];
  const isNumber = column ? !column.levels : !!domain && (domain.low !== null || options.every((option) => typeof option === "number"));
  const kind = isNumber ? "number" : options.length && options.length <= MOST_OPTIONS ? "choice" : "json";
  const [least, most] = isNumber && column ? range(column.values) : [NaN, NaN];
  const [low, high] = [domain?.low ?? least, domain?.high ?? most];
  return { name, kind, options, isInteger: domain?.is_integer ?? column?.isInteger ?? false, isLog: column?.isLog ?? false, low, high };
}

/** @param {ArrayLike<number>} values */
function range(values) {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return [low, high];
}

/**
 * Return a value as the text of its field; "" if there is none.
 *
 * @param {any} value
 */
export function textOf(value) {
  return value === undefined ? "" : json(value);
}

/**
 * Return the value that a field's text stands for. A text that is not JSON is a string, but for numbers.
 *
 * @param {Pick<Field, "kind" | "isInteger">} field
 * @param {string} text
 * @returns {{value?: any, isWrong?: boolean}} Neither for an empty text.
 */
export function valueOf({ kind, isInteger }, text) {
  const trimmed = text.trim();
  if (trimmed === "") return {};
  if (kind === "number") {
    const number = Number(trimmed);
    return Number.isFinite(number) && (!isInteger || Number.isInteger(number)) ? { value: number } : { isWrong: true };
  }
  try {
    return { value: JSON.parse(trimmed) };
  } catch {
    return { value: text };
  }
}

/**
 * Return the values that differ from what was there before.
 *
 * @param {Record<string, string>} before Texts by name.
 * @param {Record<string, string>} after
 * @returns {string[]} Names.
 */
export function changed(before, after) {
  return Object.keys(after).filter((name) => after[name].trim() !== (before[name] ?? "").trim());
}

/**
 * Read a config that was typed as JSON.
 *
 * @param {string} text
 * @returns {{config?: Record<string, any>, error?: string}}
 */
export function configOf(text) {
  try {
    const config = JSON.parse(text);
    if (config === null || typeof config !== "object" || Array.isArray(config)) return { error: "object" };
    return { config };
  } catch (error) {
    return { error: String(/** @type {Error} */ (error).message) };
  }
}
