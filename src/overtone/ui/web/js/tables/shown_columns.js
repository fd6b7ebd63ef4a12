/** The columns that the table of trials can show, and which of them it shows. */

import { text } from "../format.js";
import { t } from "../i18n.js";
import { durationColumn } from "./trial_state.js";

/** @typedef {import("../data/table.js").Table} Table */
/** @typedef {import("../data/table.js").Column} Column */

/**
 * @typedef {object} Choice
 * @property {string} key
 * @property {string} label
 * @property {"result" | "param" | "metric" | "fact"} group
 * @property {boolean} isNumber
 */

/** Hyperparameters that are shown if nothing was chosen. */
const MOST_PARAMS = 8;
const FACTS = ["end", "duration", "n_results", "started", "ended", "rung", "bracket", "node", "source", "allowed"];
const STORE = "overtone.columns.";

/**
 * @param {Table} table
 * @returns {Choice[]} every column but the trial's id and status, which are always shown
 */
export function choicesOf(table) {
  const goals = new Map(table.goals);
  /** @type {Choice[]} */
  const choices = [];
  for (const [metric, mode] of goals) {
    if (table.columns.has(`metric:${metric}`)) choices.push(choice(`metric:${metric}`, metric, "result"));
    const best = `metric:${metric}:${mode}`;
    if (table.columns.has(best)) choices.push(choice(best, t("tables.best_of", { metric }), "result"));
  }
  for (const { key, name, levels } of table.columns.values()) {
    const isNumber = levels === null || levels.every((level) => typeof level === "number");
    if (key.startsWith("param:")) choices.push(choice(key, name, "param", isNumber));
  }
  for (const fact of FACTS) {
    const key = `fact:${fact}`;
    const isNumber = !["end", "node", "source", "allowed"].includes(fact);
    if (fact === "duration" || table.columns.has(key)) choices.push(choice(key, t(`tables.fact_${fact}`), "fact", isNumber));
  }
  for (const { key, name, group } of table.columns.values()) {
    const isExtreme = /:(min|max)$/u.test(key) && table.columns.has(key.slice(0, -4));
    if (group === "metric" && !goals.has(name) && !isExtreme) choices.push(choice(key, name, "metric"));
  }
  return choices;
}

/**
 * @param {string} key
 * @param {string} label
 * @param {Choice["group"]} group
 * @returns {Choice}
 */
function choice(key, label, group, isNumber = true) {
  return { key, label, group, isNumber };
}

/** @param {Choice[]} choices */
export function defaultKeys(choices) {
  const results = choices.filter(({ group }) => group === "result");
  const params = choices.filter(({ group }) => group === "param").slice(0, MOST_PARAMS);
  const facts = choices.filter(({ key }) => ["fact:n_results", "fact:duration", "fact:end"].includes(key));
  return [...results, ...facts.reverse(), ...params].map(({ key }) => key);
}

/**
 * @param {string} experiment
 * @returns {string[] | null} the keys that were chosen; null if none were
 */
export function keptKeys(experiment) {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE + experiment) ?? "null");
    return Array.isArray(kept) && kept.every((key) => typeof key === "string") ? kept : null;
  } catch {
    return null; // storage is off, or holds something else
  }
}

/**
 * @param {string} experiment
 * @param {string[] | null} keys null: the default again
 */
export function keepKeys(experiment, keys) {
  try {
    if (keys === null) localStorage.removeItem(STORE + experiment);
    else localStorage.setItem(STORE + experiment, JSON.stringify(keys));
  } catch {
    // storage is off: the choice holds for this page
  }
}

/**
 * Returns the column to sort by; null for the order of creation.
 * @param {Table} table
 * @param {string} key
 */
export function sortColumn(table, key) {
  return key === "fact:duration" ? durationColumn(table) : (table.columns.get(key) ?? null);
}

/**
 * @param {Column} column
 * @param {Table} table
 * @param {number} row
 * @returns {any} the value as the table holds it; null if missing
 */
export function valueAt(column, table, row) {
  const value = column.values[row];
  if (column.key === "fact:source") return value < 0 ? null : table.ids[value];
  if (column.key === "fact:allowed") return value === 1;
  if (column.levels !== null) return value < 0 ? null : column.levels[value];
  return Number.isNaN(value) ? null : value;
}

/**
 * @param {any} value
 * @param {Column} column
 */
export function shownValue(value, column) {
  if (value === null || value === undefined) return column.levels?.includes(null) ? "None" : "–";
  if (column.key === "fact:allowed") return t(value ? "tables.yes" : "tables.no");
  return text(value, column.isInteger || column.levels !== null || column.key === "fact:n_results");
}
