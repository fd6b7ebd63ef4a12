/** Filters the trials of a table by an expression such as `lr<1e-3 and loss<.2 and status==RUNNING`. */

import { compile } from "./compile.js";
import { parse } from "./grammar.js";
import { durationColumn } from "../trial_state.js";

/** @typedef {import("../../data/table.js").Table} Table */
/** @typedef {import("../../data/table.js").Column} Column */
/** @typedef {import("./names.js").Columns} Columns */

/**
 * @param {string} text
 * @param {Columns} columns of `filterable`
 * @returns {{mask: Uint8Array | null, count: number}} the mask is null if the expression is empty
 * @throws {FilterError}
 */
export function applyFilter(text, columns) {
  const node = parse(text);
  if (node === null) return { mask: null, count: columns.length };
  const mask = new Uint8Array(columns.length);
  compile(node, columns)(mask);
  let count = 0;
  for (let i = 0; i < mask.length; i += 1) count += mask[i];
  return { mask, count };
}

/** @type {Int32Array} */
let ownRows = new Int32Array(0);

/**
 * Returns the columns that a filter can name: those of the table, the trial's id, and facts as texts.
 * @param {Pick<Table, "length" | "ids" | "columns" | "goals">} table
 * @returns {Columns}
 */
export function filterable(table) {
  const columns = new Map(table.columns);
  if (ownRows.length < table.length) ownRows = Int32Array.from({ length: table.length * 2 }, (_, i) => i);
  const rows = ownRows.subarray(0, table.length);
  columns.set("fact:number", { ...fact("number", rows, []), levels: null, isInteger: true });
  columns.set("fact:trial", fact("trial", rows, table.ids));
  columns.set("fact:duration", durationColumn(table));
  const source = columns.get("fact:source");
  if (source !== undefined) columns.set("fact:source", fact("source", source.values, table.ids));
  const allowed = columns.get("fact:allowed");
  if (allowed !== undefined) columns.set("fact:allowed", fact("allowed", allowed.values, [false, true]));
  return { length: table.length, columns, goals: table.goals };
}

/**
 * @param {string} name
 * @param {Column["values"]} values
 * @param {any[]} levels
 * @returns {Column}
 */
function fact(name, values, levels) {
  return { key: `fact:${name}`, group: "fact", name, values, levels, isLog: false, isInteger: false };
}
