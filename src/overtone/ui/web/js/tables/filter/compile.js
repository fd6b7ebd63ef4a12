/** Compiles a parsed filter to loops over the arrays of a table. */

import { FilterError } from "./filter_error.js";
import { columnOf, nearest, unknownName } from "./names.js";
import { amongLevels, amongNumbers, comparing, comparingRows, inverse, joined, missing, relation } from "./scan.js";
import { STATUSES } from "./statuses.js";
import { CONSTANTS, quoted } from "./tokens.js";

/** @typedef {import("../../data/table.js").Column} Column */
/** @typedef {import("./grammar.js").Node} Node */
/** @typedef {import("./grammar.js").Operand} Operand */
/** @typedef {import("./names.js").Columns} Columns */
/** @typedef {import("./scan.js").Scan} Scan */

/** @typedef {{operand: Operand, column: Column | null}} Side a column, or else a constant */

/** @type {Record<string, string>} */
const MIRRORED = { "<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=" };

/**
 * @param {Node} node
 * @param {Columns} table
 * @returns {Scan}
 */
export function compile(node, table) {
  switch (node.type) {
    case "and":
    case "or":
      return joined(node.parts.map((part) => compile(part, table)), node.type === "and"); // prettier-ignore
    case "not":
      return inverse(compile(node.part, table));
    case "compare":
      return chain(sides(node.operands, table), node.operators);
    case "in":
      return among(sides([node.operand], table)[0], node.choices);
    case "contains":
      return containing(sides([node.operand], table)[0], node.text);
    case "truth":
      return truth(sides([node.operand], table)[0]);
  }
}

/**
 * Tells columns from constants. A word or quoted text is a constant beside a column with levels.
 * @param {Operand[]} operands
 * @param {Columns} table
 * @returns {Side[]}
 */
function sides(operands, table) {
  const named = operands.map((operand) => (canName(operand) ? columnOf(operand, table) : null));
  return operands.map((operand, i) => {
    const before = named[i - 1] ?? null;
    const isBeside = hasLevels(before) || hasLevels(named[i + 1] ?? null);
    if (operand.kind === "text" && before !== null) named[i] = null;
    else if (operand.kind === "word" && before !== null && isLevel(before, operand.text)) named[i] = null;
    else if (named[i] === null && canName(operand) && !(isBeside && operand.kind !== "name")) throw unknownName(operand, table);
    return { operand, column: named[i] };
  });
}

/** @param {Operand} operand */
function canName(operand) {
  if (operand.kind === "word") return operand.text !== "missing" && !CONSTANTS.has(operand.text.toLowerCase());
  return operand.kind !== "number";
}

/**
 * @param {Side[]} operands
 * @param {string[]} operators
 */
function chain(operands, operators) {
  const parts = operators.map((operator, i) => comparison(operands[i], operator, operands[i + 1]));
  return parts.length === 1 ? parts[0] : joined(parts, true);
}

/**
 * @param {Side} left
 * @param {string} operator
 * @param {Side} right
 * @returns {Scan}
 */
function comparison(left, operator, right) {
  if (left.column === null && right.column === null) throw new FilterError("no_column", span(left, right));
  if (left.column === null) return comparison(right, MIRRORED[operator], left);
  if (right.column !== null) return between(left, operator, right);
  const { column } = left;
  const { operand } = right;
  if (isMissing(operand, column)) {
    if (operator !== "==" && operator !== "!=") throw new FilterError("only_equality", operand, { value: operand.text });
    return operator === "==" ? missing(column) : inverse(missing(column));
  }
  if (column.levels === null) return comparing(column.values, operator, bound(column, operand));
  const equal = equalLevels(column, operand);
  if (operator === "==") return amongLevels(column.values, equal);
  if (operator === "!=") return amongLevels(column.values, equal.map((one) => 1 - one)); // prettier-ignore
  const isTrue = relation(operator);
  const kind = operand.kind === "number" ? "number" : "string";
  const limit = operand.kind === "number" ? operand.value : operand.text;
  return amongLevels(column.values, perLevel(column, (level) => typeof level === kind && isTrue(level, limit)));
}

/**
 * @param {Side} left
 * @param {string} operator
 * @param {Side} right
 * @returns {Scan}
 */
function between(left, operator, right) {
  const [a, b] = [/** @type {Column} */ (left.column), /** @type {Column} */ (right.column)];
  if (hasTexts(a) && hasTexts(b)) return comparingRows(texts(a), operator, texts(b));
  if (hasTexts(a) || hasTexts(b)) throw new FilterError("not_comparable", span(left, right), { a: a.name, b: b.name });
  const isRounded = a.values instanceof Float32Array || b.values instanceof Float32Array;
  return comparingRows(numbers(a, isRounded), operator, numbers(b, isRounded));
}

/**
 * @param {Side} side
 * @param {Operand[]} choices
 * @returns {Scan}
 */
function among({ operand, column }, choices) {
  if (column === null) throw new FilterError("no_column", operand);
  const present = choices.filter((choice) => !isMissing(choice, column));
  const isPresent = presentAmong(column, present);
  return present.length === choices.length ? isPresent : joined([isPresent, missing(column)], false);
}

/**
 * @param {Column} column
 * @param {Operand[]} choices
 */
function presentAmong(column, choices) {
  if (column.levels === null) return amongNumbers(column.values, choices.map((choice) => bound(column, choice))); // prettier-ignore
  const chosen = new Uint8Array(column.levels.length);
  for (const choice of choices) equalLevels(column, choice).forEach((is, i) => (chosen[i] |= is));
  return amongLevels(column.values, chosen);
}

/**
 * @param {Side} side
 * @param {Operand} text
 * @returns {Scan}
 */
function containing({ operand, column }, text) {
  if (column === null) throw new FilterError("no_column", operand);
  if (column.levels === null) throw new FilterError("no_text", operand, { name: column.name });
  const sought = text.text.toLowerCase();
  return amongLevels(column.values, perLevel(column, (level) => levelText(level).toLowerCase().includes(sought))); // prettier-ignore
}

/**
 * @param {Side} side
 * @returns {Scan}
 */
function truth({ operand, column }) {
  const isBoolean = column !== null && column.levels !== null && column.levels.some((level) => typeof level === "boolean");
  if (!isBoolean) throw new FilterError("expected_comparison", { start: operand.end, end: operand.end }, { name: operand.text });
  return amongLevels(column.values, perLevel(column, (level) => level === true)); // prettier-ignore
}

// --- constants ------------------------------------------------------------------------------

/**
 * @param {Operand} operand
 * @param {Column} column
 */
function isMissing(operand, column) {
  if (operand.kind !== "word") return false;
  const word = operand.text.toLowerCase();
  return word === "missing" || (["nan", "none", "null"].includes(word) && !isLevel(column, word === "null" ? "none" : word));
}

/**
 * Returns a constant as values of the column are stored.
 * @param {Column} column
 * @param {Operand} operand
 */
function bound(column, operand) {
  if (operand.kind !== "number") throw new FilterError("not_number", operand, { name: column.name, found: operand.text });
  return column.values instanceof Float32Array ? Math.fround(operand.value) : operand.value;
}

/**
 * @param {Column} column with levels
 * @param {Operand} operand
 */
function equalLevels(column, operand) {
  const isNumber = operand.kind === "number";
  const text = operand.kind === "word" && operand.text === "null" ? "none" : operand.text;
  const exact = perLevel(column, (level) => (isNumber && level === operand.value) || levelText(level) === text); // prettier-ignore
  if (exact.includes(1)) return exact;
  const lower = text.toLowerCase();
  const similar = perLevel(column, (level) => levelText(level).toLowerCase() === lower);
  if (similar.includes(1) || operand.kind !== "word" || isStatus(column, text)) return similar;
  const near = nearest(text, (column.levels ?? []).map(levelText));
  throw new FilterError("unknown_value", operand, { name: column.name, value: text }, near === null ? "" : quoted(near));
}

/**
 * @param {Column} column
 * @param {string} text
 */
function isStatus(column, text) {
  return column.key === "fact:status" && STATUSES.includes(text.toUpperCase());
}

/**
 * @param {Column} column
 * @param {string} text
 */
function isLevel(column, text) {
  return column.levels?.some((level) => levelText(level) === text) ?? false;
}

/**
 * Writes a level as it is compared and searched: structures as JSON, None as "none".
 * @param {any} level
 * @returns {string}
 */
export function levelText(level) {
  if (typeof level === "string") return level;
  return level === null || level === undefined ? "none" : (JSON.stringify(level) ?? String(level));
}

/**
 * @param {Column} column
 * @param {(level: any) => boolean} test
 */
function perLevel(column, test) {
  return Uint8Array.from(column.levels ?? [], (level) => (test(level) ? 1 : 0));
}

// --- columns row by row -----------------------------------------------------------------------

/** @param {Column | null} column */
function hasLevels(column) {
  return column !== null && column.levels !== null;
}

/** @param {Column} column */
function hasTexts(column) {
  return column.levels?.some((level) => typeof level !== "number") ?? false;
}

/**
 * @param {Column} column
 * @returns {(row: number) => string | number} NaN if missing
 */
function texts({ values, levels }) {
  const words = (levels ?? []).map(levelText);
  return (row) => (values[row] < 0 ? NaN : words[values[row]]);
}

/**
 * @param {Column} column
 * @param {boolean} isRounded to float32
 * @returns {(row: number) => number}
 */
function numbers({ values, levels }, isRounded) {
  const own = levels === null ? (/** @type {number} */ row) => values[row] : (/** @type {number} */ row) => (values[row] < 0 ? NaN : levels[values[row]]);
  return isRounded ? (row) => Math.fround(own(row)) : own;
}

/**
 * @param {Side} left
 * @param {Side} right
 */
function span(left, right) {
  return {
    start: Math.min(left.operand.start, right.operand.start),
    end: Math.max(left.operand.end, right.operand.end),
  };
}
