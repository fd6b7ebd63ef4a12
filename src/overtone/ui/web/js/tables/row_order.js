/** The order of the trials in view: it follows the filter and new results, but not under the reader's hand. */

import { sortedRows } from "./sort.js";
import { sortColumn } from "./shown_columns.js";

/** @typedef {import("../data/table.js").Table} Table */

/** @typedef {{key: string, isDescending: boolean}} Sorting key "" is the order of creation */

/** Between two changes of the order by new results. */
const QUIET_MS = 1000;

export class RowOrder {
  constructor() {
    /** @type {Uint32Array} */
    this.rows = new Uint32Array(0);
    this.made = { text: "", at: 0, version: -1, length: -1 };
  }

  /**
   * Brings the rows into order, at once if the reader asked for another one.
   * @param {Table} table
   * @param {Sorting} sorting
   * @param {{text: string, mask: Uint8Array | null}} filter
   * @param {{now: number, isHeld: boolean}} moment in milliseconds; held while the reader is in the rows
   * @returns {{isNew: boolean, isAsked: boolean, isLate: boolean}} whether the order changed, whether for a
   *   question of the reader, and whether it lags behind the table
   */
  follow(table, { key, isDescending }, { text, mask }, { now, isHeld }) {
    const question = `${key} ${isDescending} ${text}`;
    const version = table.version.value;
    const isAsked = question !== this.made.text || table.length < this.rows.length || this.made.version < 0;
    const isLate = version !== this.made.version;
    if (!isAsked && (!isLate || isHeld || now - this.made.at < QUIET_MS)) return { isNew: false, isAsked: false, isLate };
    const usable = mask !== null && mask.length === table.length ? mask : null;
    if (mask !== null && usable === null && !isAsked) return { isNew: false, isAsked: false, isLate: true };
    this.rows = sortedRows(sortColumn(table, key), isDescending, usable, table.length);
    this.made = { text: question, at: now, version, length: table.length };
    return { isNew: true, isAsked, isLate: false };
  }
}
