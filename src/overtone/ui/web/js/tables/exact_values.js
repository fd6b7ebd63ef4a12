/** Exact values of the rows in view: the table's own are rounded to float32 if there are many trials. */

import { signal } from "../html.js";

/** @typedef {import("../data/table.js").Table} Table */
/** @typedef {import("../data/source.js").Source} Source */

const MOST_KEPT = 2000;
const QUIET_MS = 120;

export class ExactValues {
  constructor() {
    /** Counts the answers: read it to be drawn again. */
    this.version = signal(0);
    /** @type {Map<number, Record<string, any>>} */
    this.rows = new Map();
    this.timer = 0;
  }

  /**
   * Returns the exact value of a cell, or the rounded one until it is known.
   * @param {import("../data/table.js").Column} column
   * @param {number} row
   * @param {any} rounded
   */
  value(column, row, rounded) {
    if (!(column.values instanceof Float32Array) || typeof rounded !== "number") return rounded;
    const exact = this.rows.get(row)?.[column.key];
    return typeof exact === "number" && Math.fround(exact) === rounded ? exact : rounded;
  }

  /**
   * Asks for rows once the view rests, if they are not known or have changed.
   * @param {Source} source
   * @param {string} experiment
   * @param {Table} table
   * @param {number[]} rows
   * @param {string[]} keys of the shown columns
   */
  want(source, experiment, table, rows, keys) {
    clearTimeout(this.timer);
    const rounded = keys.flatMap((key) => table.columns.get(key) ?? []).filter(({ values }) => values instanceof Float32Array);
    const stale = rows.filter((row) => rounded.some((column) => this.isStale(column, row)));
    if (stale.length === 0) return;
    this.timer = Number(setTimeout(() => this.ask(source, experiment, stale), QUIET_MS));
  }

  /**
   * @param {import("../data/table.js").Column} column
   * @param {number} row
   */
  isStale({ key, values }, row) {
    const known = this.rows.get(row);
    const rounded = values[row];
    return known === undefined || (!Number.isNaN(rounded) && Math.fround(known[key] ?? NaN) !== rounded && known[key] !== undefined);
  }

  /**
   * @param {Source} source
   * @param {string} experiment
   * @param {number[]} rows
   */
  async ask(source, experiment, rows) {
    try {
      const answer = await source.rows(experiment, rows);
      if (this.rows.size + rows.length > MOST_KEPT) this.rows.clear();
      const columns = Object.entries(answer.columns);
      answer.rows.forEach((/** @type {number} */ row, /** @type {number} */ i) => {
        this.rows.set(row, Object.fromEntries(columns.map(([key, values]) => [key, values[i]])));
      });
      this.version.value += 1;
    } catch {
      // rounded values stay; the next rows in view are asked for again
    }
  }
}
