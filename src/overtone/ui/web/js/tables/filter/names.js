/** Finds the column that a name in a filter means, and the nearest one where there is none. */

import { FilterError } from "./filter_error.js";
import { quoted } from "./tokens.js";

/** @typedef {import("../../data/table.js").Column} Column */
/** @typedef {import("./grammar.js").Operand} Operand */

/**
 * What a filter needs of the table.
 * @typedef {object} Columns
 * @property {number} length
 * @property {Map<string, Column>} columns by key, such as "param:lr"
 * @property {[string, string][]} goals metric and mode of each
 */

const LONGEST_COMPARED = 60;
const MOST_COMPARED = 2000;

/** Of two columns with one name, that of the earlier group is meant. */
const GROUPS = /** @type {const} */ (["param", "metric", "fact"]);

/**
 * The columns that can be named; extremes of metrics are reached by `min(loss)`.
 * @param {Columns} table
 */
export function nameable(table) {
  return [...table.columns.values()].filter((column) => !isExtreme(column, table));
}

/**
 * Returns the column that an operand names; null if there is none.
 * @param {Operand} operand
 * @param {Columns} table
 * @returns {Column | null}
 */
export function columnOf(operand, table) {
  const column = byName(operand.text, table);
  if (column === null || operand.part === "" || operand.part === "last") return column;
  const metric = column.group === "metric" ? column : (table.columns.get(`metric:${operand.text}`) ?? column);
  const mode = table.goals.find(([name]) => name === metric.name)?.[1] ?? "min";
  const extreme = table.columns.get(`${metric.key}:${operand.part === "best" ? mode : operand.part}`);
  if (extreme === undefined) throw new FilterError("no_extreme", operand, { name: metric.name, part: operand.part });
  return extreme;
}

/**
 * @param {string} name
 * @param {Columns} table
 * @returns {Column | null}
 */
function byName(name, table) {
  const exact = table.columns.get(name);
  if (exact !== undefined) return exact;
  for (const group of GROUPS) {
    const column = table.columns.get(`${group}:${name}`);
    if (column !== undefined) return column;
  }
  const lower = name.toLowerCase();
  const all = nameable(table);
  return (
    only(all.filter((column) => column.name.toLowerCase() === lower)) ??
    only(all.filter((column) => lastPart(column.name) === name))
  );
}

/** @param {Column[]} columns */
function only(columns) {
  return columns.length === 1 ? columns[0] : null;
}

/** @param {string} name such as "optimizer/lr" */
function lastPart(name) {
  return name.slice(name.lastIndexOf("/") + 1);
}

/**
 * @param {Column} column
 * @param {Columns} table
 */
function isExtreme({ group, key }, table) {
  return group === "metric" && /:(min|max)$/u.test(key) && table.columns.has(key.slice(0, -4));
}

/**
 * @param {Operand} operand
 * @param {Columns} table
 * @returns {FilterError}
 */
export function unknownName(operand, table) {
  const names = nameable(table).map((column) => column.name);
  const near = nearest(operand.text, names);
  return new FilterError("unknown_name", operand, { name: operand.text }, near === null ? "" : quoted(near));
}

/**
 * Returns the candidate with the fewest edits, if they are few; null if none is near.
 * @param {string} text
 * @param {string[]} candidates
 */
export function nearest(text, candidates) {
  const lower = text.slice(0, LONGEST_COMPARED).toLowerCase();
  let best = null;
  let fewest = Math.max(1, Math.floor(lower.length / 2)) + 1;
  for (const candidate of candidates.slice(0, MOST_COMPARED)) {
    const other = candidate.slice(0, LONGEST_COMPARED).toLowerCase();
    const isPart = lower.length > 2 && other.includes(lower);
    const edits = isPart ? 1 : Math.min(distance(lower, other), distance(lower, lastPart(other)) + 0.5);
    if (edits < fewest) {
      best = candidate;
      fewest = edits;
    }
  }
  return best;
}

/**
 * Counts the characters to insert, delete, replace or swap (optimal string alignment).
 * @param {string} a
 * @param {string} b
 */
function distance(a, b) {
  let before = new Uint16Array(b.length + 1);
  let previous = Uint16Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const current = new Uint16Array(b.length + 1);
    current[0] = i;
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      current[j] = Math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) current[j] = Math.min(current[j], before[j - 2] + 1);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length];
}
