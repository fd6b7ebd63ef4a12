import assert from "node:assert/strict";
import { test } from "node:test";

import { sortedRows } from "../../../src/overtone/ui/web/js/tables/sort.js";
import { randomness } from "./randomness.mjs";

const NUMBERS = [0, -0, 1, -1, 1e-40, -1e-40, 3.5, -3.5, 1e30, -1e30, Infinity, -Infinity, NaN, 1e-3, 2 ** -126];

/** @param {any} values @param {any[] | null} levels */
function column(values, levels = null, key = "param:x") {
  return { key, group: /** @type {const} */ ("param"), name: "x", values, levels, isLog: false, isInteger: false };
}

/**
 * @param {(row: number) => any} value null or NaN if missing
 * @param {boolean} isDescending
 * @param {number[]} rows
 */
function naive(value, isDescending, rows) {
  const isMissing = (/** @type {any} */ one) => one === null || Number.isNaN(one);
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (isMissing(x) || isMissing(y)) return Number(isMissing(x)) - Number(isMissing(y)) || a - b;
    const order = x < y ? -1 : x > y ? 1 : 0;
    return (isDescending ? -order : order) || a - b;
  });
}

for (const isDescending of [false, true]) {
  for (const Kind of [Float32Array, Float64Array, Int32Array, Int8Array]) {
    test(`rows are sorted: ${Kind.name}, descending ${isDescending}`, () => {
      const random = randomness(3);
      for (let round = 0; round < 30; round += 1) {
        const length = Math.floor(random() * 60);
        const values = new Kind(length).map(() =>
          random() < 0.5 ? NUMBERS[Math.floor(random() * NUMBERS.length)] : Math.round((random() - 0.5) * 40) / 4,
        );
        const mask = Uint8Array.from({ length }, () => (random() < 0.8 ? 1 : 0));
        const rows = [...mask.keys()].filter((row) => mask[row] === 1);
        assert.deepEqual([...sortedRows(column(values), isDescending, mask, length)], naive((row) => values[row], isDescending, rows));
      }
    });
  }

  test(`levels are sorted by value, descending ${isDescending}`, () => {
    const levels = ["b", 10, "a", 2, null, true];
    const codes = Int8Array.of(0, 1, -1, 2, 3, 4, 5, 0);
    const sorted = [...sortedRows(column(codes, levels), isDescending, null, codes.length)];
    const shown = sorted.map((row) => (codes[row] < 0 ? "missing" : levels[codes[row]]));
    const ascending = [2, 10, "a", "b", "b", null, true];
    assert.deepEqual(shown, [...(isDescending ? ascending.reverse() : ascending), "missing"]);
    assert.equal(sorted.indexOf(0) < sorted.indexOf(7), true);
  });
}

test("without a column rows are in the order of creation", () => {
  assert.deepEqual([...sortedRows(null, false, null, 3)], [0, 1, 2]);
  assert.deepEqual([...sortedRows(null, true, Uint8Array.of(1, 0, 1), 3)], [2, 0]);
});

test("a missing source is last", () => {
  assert.deepEqual([...sortedRows(column(Int32Array.of(-1, 5, 2), null, "fact:source"), true, null, 3)], [1, 2, 0]);
});
