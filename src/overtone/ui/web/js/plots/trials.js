/** Trials of the page's table as marks: where each stands, its value, its text. */

import { number, text } from "../format.js";
import { t } from "../i18n.js";
import { experiment, source } from "../state.js";
import { ExactValues } from "../tables/exact_values.js";

/** @typedef {import("../data/table.js").Table} Table */
/** @typedef {import("../data/table.js").Column} Column */

/**
 * How trials are drawn by where they stand, in the order of drawing: running and failed ones on top.
 * @type {{state: string, role: string, symbol: import("./sprites.js").Symbol}[]}
 */
export const LOOKS = [
  { state: "stopped", role: "stopped", symbol: "ring" },
  { state: "pending", role: "pending", symbol: "ring" },
  { state: "finished", role: "completed", symbol: "circle" },
  { state: "paused", role: "paused", symbol: "bar" },
  { state: "disallowed", role: "disallowed", symbol: "cross" },
  { state: "failed", role: "failed", symbol: "cross" },
  { state: "running", role: "running", symbol: "diamond" },
];
const CODES = Object.fromEntries(LOOKS.map((look, i) => [look.state, i]));
/** @type {Record<string, string>} */
const STATES = {
  PENDING: "pending", STARTING: "running", RUNNING: "running", HALTING: "running", PAUSED: "paused", PARKED: "paused",
  ERROR: "failed",
};

/** @type {WeakMap<Table, {version: number, codes: Uint8Array}>} */
const cached = new WeakMap();

/** How many trials have reported: the others cannot have a value yet. @param {Table} table */
export function countReported(table) {
  const results = table.column("fact:n_results")?.values;
  let n = 0;
  for (let i = 0; i < table.length; i++) if (!results || results[i] > 0) n++;
  return n;
}

/**
 * Where each trial stands now: counts into LOOKS.
 * @param {Table} table
 */
export function codesOf(table) {
  const version = table.version.peek();
  const before = cached.get(table);
  if (before?.version === version) return before.codes;
  const codes = stateCodes(table);
  cached.set(table, { version, codes });
  return codes;
}

/** @param {Table} table */
function stateCodes(table) {
  const status = table.column("fact:status");
  const end = table.column("fact:end");
  const allowed = table.column("fact:allowed");
  const finished = end?.levels?.indexOf("finished") ?? -1;
  const codes = (status?.levels ?? []).map((word) => CODES[STATES[word] ?? "finished"]);
  const out = new Uint8Array(table.length).fill(CODES.pending);
  for (let i = 0; i < table.length; i++) {
    const code = status ? status.values[i] : -1;
    if (code < 0) continue;
    out[i] = codes[code];
    if (out[i] === CODES.finished) {
      const cause = end ? end.values[i] : -1;
      if (cause >= 0 && cause !== finished) out[i] = CODES.stopped;
    }
    if (allowed && !allowed.values[i]) out[i] = CODES.disallowed;
  }
  return out;
}

/**
 * The state of one trial, in the reader's language.
 * @param {number} code
 */
export function stateText(code) {
  return t(`plots.state_${LOOKS[code]?.state ?? "pending"}`);
}

/**
 * The values of a goal: each trial's last one; all NaN if there is none yet.
 * @param {Table} table
 * @param {number} goal
 * @returns {{metric: string, mode: string, values: import("../data/message.js").TypedArray}}
 */
export function goalValues(table, goal) {
  const [metric, mode] = table.goals[goal] ?? table.goals[0] ?? ["", "min"];
  const column = table.column(`metric:${metric}`);
  return { metric, mode, values: column?.values ?? new Float32Array(table.length).fill(NaN) };
}

/** @param {Table} table */
export function paramsOf(table) {
  return [...table.columns.values()].filter((column) => column.group === "param");
}

/**
 * A value of a column as text; "" where it is missing.
 * @param {Column} column
 * @param {number} row
 * @param {number} [value]  Instead of that of the table.
 */
export function cellText(column, row, value = column.values[row]) {
  if (column.levels) return value < 0 ? "" : text(column.levels[value]);
  return value === value ? number(value, column.isInteger) : "";
}

const MOST_LINES = 12;

/**
 * What is known of a trial: its id and state, goals, hyperparameters.
 * @param {Table} table
 * @param {number} row
 * @returns {string[]}
 */
export function trialLines(table, row) {
  const known = exactOf(table);
  known.version.value; // the answer draws the text again
  const cell = (/** @type {Column} */ column) => cellText(column, row, known.value(column, row, column.values[row]));
  const lines = [`${table.ids[row]} · ${t("plots.number", { n: row })} · ${stateText(codesOf(table)[row])}`];
  for (const [metric] of table.goals) {
    const column = table.column(`metric:${metric}`);
    if (column) lines.push(`${metric} = ${cell(column) || t("plots.no_value")}`);
  }
  const params = paramsOf(table);
  for (const column of params.slice(0, MOST_LINES)) {
    const value = cell(column);
    if (value) lines.push(`${column.name} = ${value.length > 60 ? `${value.slice(0, 59)}…` : value}`);
  }
  if (params.length > MOST_LINES) lines.push(t("plots.more_params", { n: params.length - MOST_LINES }));
  return lines;
}

/** @type {WeakMap<Table, ExactValues>} */
const exact = new WeakMap();

/** @param {Table} table */
function exactOf(table) {
  let values = exact.get(table);
  if (!values) exact.set(table, (values = new ExactValues()));
  return values;
}

/**
 * Asks for the exact values of a row, if the table's are rounded: `trialLines` then has them.
 * @param {Table} table
 * @param {number} row
 */
export function wantExact(table, row) {
  if (source.value) exactOf(table).want(source.value, experiment.value, table, [row], [...table.columns.keys()]);
}
