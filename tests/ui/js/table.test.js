import assert from "node:assert/strict";
import { test } from "node:test";
import { Table } from "../../../src/overtone/ui/web/js/data/table.js";
import { encode } from "./encode.mjs";
import { decode } from "../../../src/overtone/ui/web/js/data/message.js";

/** @typedef {{id: string, lr: number, status: number, n: number, late?: number}} Row */

const WORDS = ["PENDING", "RUNNING", "TERMINATED"];

/** A run as the server knows it: rows, and the record at which each last changed. */
class Run {
  /** @param {() => number} random */
  constructor(random) {
    this.random = random;
    this.n = 0;
    /** @type {Row[]} */
    this.rows = [];
  }

  step() {
    this.n += 1;
    const isNew = this.rows.length === 0 || this.random() < 0.2;
    if (isNew) this.rows.push({ id: `t${this.rows.length}`, lr: this.random(), status: 0, n: this.n });
    const row = this.rows[Math.floor(this.random() * this.rows.length)];
    row.status = Math.floor(this.random() * 3);
    row.n = this.n;
    if (this.n > 50) row.late = this.random();
  }

  /** @param {number | null} from The record after which rows changed; null for a whole message. */
  message(from) {
    const rows = this.rows.map((_, i) => i).filter((i) => from === null || this.rows[i].n > from);
    const one = rows.map((i) => this.rows[i]);
    const parts = [
      { key: "param:lr", values: Float64Array.from(one, (row) => row.lr) },
      { key: "fact:status", values: Int8Array.from(one, (row) => row.status), levels: from === null ? WORDS : Object.fromEntries(WORDS.entries()) },
    ];
    if (one.some((row) => row.late !== undefined)) {
      parts.push(/** @type {any} */ ({ key: "metric:late", values: Float64Array.from(one, (row) => row.late ?? NaN) }));
    }
    if (from !== null) parts.push(/** @type {any} */ ({ key: "rows", values: Int32Array.from(rows) }));
    const header = { n: this.n, length: this.rows.length, rows: from === null ? null : "rows", goals: [["late", "min"]] };
    return decode(encode(header, parts, one.map((row) => row.id)));
  }
}

/** @param {number} seed A small generator: the same sequence each time. */
function generator(seed) {
  return () => {
    seed = (seed * 1664525 + 1013904223) % 2 ** 32;
    return seed / 2 ** 32;
  };
}

/** @param {Table} table */
function contents(table) {
  const columns = [...table.columns].map(([key, { values, levels }]) => [
    key, [...values].map((value) => (levels ? levels[value] : value)),
  ]);
  return { length: table.length, n: table.n, ids: table.ids, columns: Object.fromEntries(columns.sort()) };
}

/** @param {any[]} items @param {() => number} random */
function shuffled(items, random) {
  return items.map((item) => ({ item, at: random() })).sort((a, b) => a.at - b.at).map(({ item }) => item);
}

test("updates in any order, twice and overlapping, lead to the whole table", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = generator(seed);
    const run = new Run(random);
    for (let i = 0; i < 10; i++) run.step();
    const table = new Table();
    table.merge(run.message(null));
    const updates = [];
    let from = run.n;
    for (let i = 0; i < 20; i++) {
      for (let j = 0; j < 5; j++) run.step();
      updates.push(run.message(Math.max(0, from - Math.floor(random() * 8))));
      from = run.n;
    }
    for (const update of shuffled([...updates, ...updates.slice(0, 5)], random)) table.merge(update);
    const whole = new Table();
    whole.merge(run.message(null));
    assert.deepEqual(contents(table), contents(whole), `seed ${seed}`);
    assert.equal(table.rowOf("t0"), 0);
    assert.equal(table.rowOf(run.rows[run.rows.length - 1].id), run.rows.length - 1);
    assert.equal(table.rowOf("none"), -1);
  }
});

/**
 * @param {Table} table
 * @param {number} n
 * @param {string} key
 * @param {any} values
 * @param {number[]} rows
 * @param {any} [levels]
 */
function update(table, n, key, values, rows, levels) {
  const parts = [{ key, values, levels }, { key: "rows", values: Int32Array.from(rows) }];
  table.merge(decode(encode({ n, length: Math.max(table.length, ...rows.map((row) => row + 1)), rows: "rows", goals: [] }, parts, rows.map((row) => `t${row}`))));
}

test("codes and numbers that need a wider array keep their values", () => {
  const table = new Table();
  const codes = Int8Array.from([0, -1]);
  table.merge(decode(encode({ n: 1, length: 2, rows: null, goals: [] }, [
    { key: "param:a", values: codes, levels: ["x"] }, { key: "param:b", values: Float32Array.from([0.5, NaN]) }], ["t0", "t1"])));
  update(table, 2, "param:a", Int16Array.from([300]), [2], { 300: "y" });
  update(table, 3, "param:b", Float64Array.from([0.1]), [2]);
  update(table, 4, "param:b", Int32Array.from([2 ** 30 + 1]), [3]);
  assert.deepEqual([...(table.column("param:a")?.values ?? [])], [0, -1, 300, -1]);
  assert.equal(table.column("param:a")?.levels?.[300], "y");
  assert.deepEqual([...(table.column("param:b")?.values ?? [])], [0.5, NaN, 0.1, 2 ** 30 + 1]);
});

test("a column that comes late is missing in the rows before, and in rows that come later without it", () => {
  const table = new Table();
  table.merge(decode(encode({ n: 1, length: 1, rows: null, goals: [] }, [{ key: "param:a", values: Float64Array.from([1]) }], ["t0"])));
  update(table, 2, "metric:loss", Float64Array.from([3]), [1]);
  update(table, 3, "param:a", Float64Array.from([4]), [2]);
  assert.deepEqual([...(table.column("metric:loss")?.values ?? [])], [NaN, 3, NaN]);
  assert.deepEqual([...(table.column("param:a")?.values ?? [])], [1, NaN, 4]);
});

test("a whole message replaces everything", () => {
  const random = generator(9);
  const run = new Run(random);
  for (let i = 0; i < 80; i++) run.step();
  const table = new Table();
  table.merge(run.message(null));
  const version = table.version.value;
  const other = new Run(random);
  other.step();
  table.merge(other.message(null));
  assert.equal(table.length, 1);
  assert.equal(table.column("metric:late"), undefined);
  assert.equal(table.version.value, version + 1);
});
