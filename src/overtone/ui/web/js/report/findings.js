/** What a reader of a report asks first, in numbers: which is best, and how sure is it. */
import { stateOf } from "../tables/trial_state.js";

/**
 * @typedef {import("../data/table.js").Table} Table
 * @typedef {{row: number, value: number, n: number, second: number | null, spread: number | null,
 *   range: number | null, later: number}} Findings `n` trials have a value; `spread` is that of the best five,
 *   `range` that of all; `later` trials came after the best.
 * @typedef {{name: string, low: number, high: number, isLog: boolean, options: any[] | null, n: number}} Setting
 *   A hyperparameter with the values that were tried: from `low` to `high`, or `n` `options`.
 */

/**
 * @param {Table} table
 * @param {number} [goal]
 * @returns {Findings | null} null if no trial has a value.
 */
export function findings(table, goal = 0) {
  const [metric, mode] = table.goals[goal] ?? [];
  const column = metric === undefined ? undefined : table.column(`metric:${metric}`);
  if (!column) return null;
  const allowed = table.column("fact:allowed")?.values;
  const sign = mode === "max" ? -1 : 1;
  /** @type {number[]} Rows of the best five, best first. */
  const best = [];
  let [n, low, high] = [0, Infinity, -Infinity];
  const { values } = column;
  for (let row = 0; row < table.length; row++) {
    const value = values[row];
    if (!Number.isFinite(value) || (allowed && !allowed[row])) continue;
    n++;
    low = Math.min(low, value);
    high = Math.max(high, value);
    if (best.length === 5 && sign * value >= sign * values[best[4]]) continue;
    let at = best.length;
    while (at > 0 && sign * value < sign * values[best[at - 1]]) at--;
    best.splice(at, 0, row);
    if (best.length > 5) best.pop();
  }
  if (!n) return null;
  const last = best[best.length - 1];
  return {
    row: best[0],
    value: values[best[0]],
    n,
    second: best.length > 1 ? values[best[1]] : null,
    spread: best.length > 1 ? Math.abs(values[last] - values[best[0]]) : null,
    range: n > 1 ? high - low : null,
    later: table.length - 1 - best[0],
  };
}

/**
 * Count the trials that were stopped early, failed, or are not done.
 *
 * @param {Table} table
 */
export function fates(table) {
  const counts = { stopped: 0, failed: 0, running: 0 };
  for (let row = 0; row < table.length; row++) {
    const state = stateOf(table, row);
    if (state === "STOPPED") counts.stopped++;
    else if (state === "ERROR") counts.failed++;
    else if (state !== "TERMINATED") counts.running++;
  }
  return counts;
}

/**
 * Return the hyperparameters that differ between trials.
 *
 * @param {Table} table
 * @returns {Setting[]}
 */
export function settings(table) {
  const found = [];
  for (const { group, name, values, levels, isLog } of table.columns.values()) {
    if (group !== "param") continue;
    if (levels) {
      const codes = new Set(values);
      codes.delete(-1);
      const options = [...codes].sort((a, b) => a - b).map((code) => levels[code]);
      if (options.length > 1) found.push({ name, low: NaN, high: NaN, isLog, options, n: options.length });
      continue;
    }
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (low < high) found.push({ name, low, high, isLog, options: null, n: 0 });
  }
  return found;
}

/**
 * @param {Table} table
 * @param {number} row
 * @returns {Record<string, any>} The trial's configuration, as far as the table has it.
 */
export function configOf(table, row) {
  /** @type {Record<string, any>} */
  const config = {};
  for (const { group, name, values, levels } of table.columns.values()) {
    const value = values[row];
    if (group !== "param" || (levels ? value < 0 : Number.isNaN(value))) continue;
    config[name] = levels ? levels[value] : value;
  }
  return config;
}
