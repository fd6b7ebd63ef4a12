/** All trials of an experiment as columns: one typed array per hyperparameter, metric and fact. */
import { signal } from "../html.js";

/**
 * @typedef {import("./message.js").TypedArray} TypedArray
 * @typedef {import("./message.js").Message} Message
 * @typedef {import("./message.js").ArrayEntry} ArrayEntry
 * @typedef {{key: string, group: "param" | "metric" | "fact", name: string, values: TypedArray,
 *   levels: any[] | null, isLog: boolean, isInteger: boolean}} Column
 * @typedef {{name: string, low: number | null, high: number | null, is_integer: boolean, options: any[]}} Domain
 */

/** The array types, narrowest first, and which of two holds the values of both. */
const RANKS = new Map(/** @type {[any, number][]} */ ([
  [Int8Array, 0], [Uint8Array, 1], [Int16Array, 2], [Int32Array, 3], [Float32Array, 4], [Float64Array, 5],
]));

export class Table {
  constructor() {
    /** The journal's last record that is in the table. */
    this.n = 0;
    this.length = 0;
    /** @type {string[]} */
    this.ids = [];
    /** @type {[string, string][]} */
    this.goals = [];
    /** @type {Map<string, Column>} */
    this.columns = new Map();
    /** What the hyperparameters can be. @type {Domain[]} */
    this.space = [];
    /** Counts the changes: read it to be drawn again. */
    this.version = signal(0);
    /** @type {Map<string, TypedArray>} Arrays with room for more rows; `Column.values` are views of them. */
    this._stores = new Map();
    this._room = 0;
    /** The record of the update that each row was written by. @type {Float64Array} */
    this._written = new Float64Array(0);
    /** @type {Map<string, number> | null} */
    this._rowsById = null;
  }

  /**
   * @param {string} key
   * @returns {Column | undefined}
   */
  column(key) {
    return this.columns.get(key);
  }

  /**
   * @param {string} id
   * @returns {number} The trial's row, -1 if there is no such trial.
   */
  rowOf(id) {
    if (!this._rowsById) this._rowsById = new Map(this.ids.map((name, row) => [name, row]));
    return this._rowsById.get(id) ?? -1;
  }

  /**
   * Take a whole message or an update. Updates may come in any order and more than once: a row keeps
   * the values of its newest update.
   *
   * @param {Message} message
   */
  merge(message) {
    const { header, arrays } = message;
    if (header.rows === null) this._replace(message);
    else this._update(message, /** @type {Int32Array} */ (arrays.get(header.rows)));
    this.n = Math.max(this.n, header.n);
    if (header.goals) this.goals = header.goals;
    this.version.value++;
  }

  /** @param {Message} message */
  _replace({ header, arrays, ids }) {
    this.length = this._room = header.length;
    this.ids = ids;
    this.space = header.space ?? [];
    this.columns = new Map();
    this._stores = new Map();
    this._rowsById = null;
    this._written = new Float64Array(header.length).fill(header.n);
    for (const entry of header.arrays) {
      const values = /** @type {TypedArray} */ (arrays.get(entry.key));
      this._stores.set(entry.key, values);
      this.columns.set(entry.key, columnOf(entry, values, entry.levels ?? null));
    }
  }

  /**
   * @param {Message} message
   * @param {Int32Array} rows
   */
  _update({ header, arrays, ids }, rows) {
    this._grow(Math.max(header.length, this.length));
    const fresh = [];
    for (let i = 0; i < rows.length; i++) {
      if (header.n >= this._written[rows[i]]) fresh.push(i);
    }
    for (const entry of header.arrays) {
      if (entry.key === header.rows) continue;
      const values = /** @type {TypedArray} */ (arrays.get(entry.key));
      const { column, store } = this._columnFor(entry, values);
      if (entry.levels && column.levels) {
        for (const code of Object.keys(entry.levels)) column.levels[Number(code)] = entry.levels[code];
      }
      for (const i of fresh) store[rows[i]] = values[i];
    }
    for (const i of fresh) {
      this._written[rows[i]] = header.n;
      if (this.ids[rows[i]] !== ids[i] && ids[i] !== undefined) {
        this.ids[rows[i]] = ids[i];
        this._rowsById?.set(ids[i], rows[i]);
      }
    }
  }

  /** @param {number} length */
  _grow(length) {
    if (length > this._room) {
      this._room = Math.max(length, Math.ceil(this._room * 1.5), 64);
      for (const [key, store] of this._stores) {
        this._stores.set(key, resized(store, this._room, missing(/** @type {Column} */ (this.columns.get(key)))));
      }
      this._written = /** @type {Float64Array} */ (resized(this._written, this._room, -1));
    }
    if (length === this.length) return;
    while (this.ids.length < length) this.ids.push("");
    this.length = length;
    for (const [key, column] of this.columns) column.values = this._view(key);
  }

  /**
   * Return the column of an update's array, made or widened where it must be.
   *
   * @param {ArrayEntry} entry
   * @param {TypedArray} values
   */
  _columnFor(entry, values) {
    const { key } = entry;
    let column = this.columns.get(key);
    let store = this._stores.get(key);
    if (!column || !store) {
      column = columnOf(entry, values, entry.levels ? [] : null);
      store = resized(new (kindOf(values))(0), this._room, missing(column));
    } else if (kindOf(store) !== wider(store, values)) {
      store = resized(new (wider(store, values))(store), this._room, missing(column));
    } else {
      return { column, store };
    }
    this._stores.set(key, store);
    this.columns.set(key, column);
    column.values = this._view(key);
    return { column, store };
  }

  /** @param {string} key */
  _view(key) {
    return /** @type {TypedArray} */ (this._stores.get(key)).subarray(0, this.length);
  }
}

/**
 * @param {ArrayEntry} entry
 * @param {TypedArray} values
 * @param {any[] | null} levels
 * @returns {Column}
 */
function columnOf({ key, is_log, is_integer }, values, levels) {
  const at = key.indexOf(":");
  const group = /** @type {"param" | "metric" | "fact"} */ (key.slice(0, at));
  return { key, group, name: key.slice(at + 1), values, levels, isLog: !!is_log, isInteger: !!is_integer };
}

/** @param {Column} column */
function missing({ levels, key, values }) {
  if (levels || key === "fact:source") return -1;
  return values instanceof Float32Array || values instanceof Float64Array ? NaN : 0;
}

/**
 * @param {TypedArray} values
 * @returns {any}
 */
function kindOf(values) {
  return values.constructor;
}

/**
 * @param {TypedArray} a
 * @param {TypedArray} b
 * @returns {any} The narrowest type that holds every value of both types.
 */
function wider(a, b) {
  const [low, high] = [kindOf(a), kindOf(b)].sort((one, two) => (RANKS.get(one) ?? 0) - (RANKS.get(two) ?? 0));
  if (low === high) return high;
  if (high === Uint8Array) return Int16Array; // beside -128..127
  if (high === Float32Array && low === Int32Array) return Float64Array;
  return high;
}

/**
 * @param {TypedArray} values
 * @param {number} length
 * @param {number} fill
 * @returns {TypedArray}
 */
function resized(values, length, fill) {
  const Kind = kindOf(values);
  const larger = new Kind(length);
  larger.set(values);
  larger.fill(fill, values.length);
  return larger;
}
