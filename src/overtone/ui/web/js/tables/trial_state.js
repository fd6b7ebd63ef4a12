/** Where a trial stands, as a word of `Badge`, and how long it ran. */

import { overview } from "../state.js";

/** @typedef {import("../data/table.js").Table} Table */

/**
 * @param {Table} table
 * @param {number} row
 * @returns {string} "STOPPED" for a trial that was ended before it was finished, "INTERRUPTED" for one whose driver is gone
 */
export function stateOf(table, row) {
  const status = levelAt(table, "fact:status", row) ?? "PENDING";
  if (status === "RUNNING" && ["crashed", "interrupted"].includes(overview.value?.state ?? "")) return "INTERRUPTED";
  const end = levelAt(table, "fact:end", row);
  return status === "TERMINATED" && end !== null && end !== "finished" ? "STOPPED" : status;
}

/**
 * @param {Table} table
 * @param {string} key of a column with levels
 * @param {number} row
 * @returns {any} null if missing
 */
export function levelAt(table, key, row) {
  const column = table.column(key);
  const code = column?.values[row] ?? -1;
  return code < 0 ? null : (column?.levels?.[code] ?? null);
}

/**
 * Returns the seconds of the experiment's clock for which a trial has run.
 * @param {Table} table
 * @param {number} row
 * @param {number} now of that clock
 */
export function secondsOf(table, row, now) {
  const started = table.column("fact:started")?.values[row] ?? NaN;
  const ended = table.column("fact:ended")?.values[row] ?? NaN;
  return (Number.isNaN(ended) ? now : ended) - started;
}

/**
 * Returns the running times of ended trials as a column.
 * @param {Pick<Table, "length" | "columns">} table
 * @returns {import("../data/table.js").Column}
 */
export function durationColumn(table) {
  const started = table.columns.get("fact:started")?.values;
  const ended = table.columns.get("fact:ended")?.values;
  const values = new Float32Array(table.length).fill(NaN);
  if (started && ended) for (let i = 0; i < values.length; i += 1) values[i] = ended[i] - started[i];
  return { key: "fact:duration", group: "fact", name: "duration", values, levels: null, isLog: false, isInteger: false };
}

/**
 * Returns the rows of the best trials, one of each goal.
 * @param {any} overview
 * @returns {Set<number>}
 */
export function bestRows(overview) {
  return new Set((overview?.goals ?? []).flatMap((/** @type {any} */ goal) => goal.best?.row ?? []));
}
