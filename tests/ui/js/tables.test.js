import assert from "node:assert/strict";
import { test } from "node:test";

import { texts } from "../../../src/overtone/ui/web/js/i18n.js";
import { addReportTexts } from "../../../src/overtone/ui/web/js/i18n/report.js";
import { table, filter } from "../../../src/overtone/ui/web/js/state.js";
import { Table } from "../../../src/overtone/ui/web/js/data/table.js";
import { kindOf, merged } from "../../../src/overtone/ui/web/js/tables/decision_list.js";
import { ExactValues } from "../../../src/overtone/ui/web/js/tables/exact_values.js";
import { followFilter, setFilter } from "../../../src/overtone/ui/web/js/tables/filter/live.js";
import { pythonLiteral } from "../../../src/overtone/ui/web/js/tables/literals.js";
import { piecesOf, plainText } from "../../../src/overtone/ui/web/js/tables/log_text.js";
import { RowOrder } from "../../../src/overtone/ui/web/js/tables/row_order.js";
import { stateOf } from "../../../src/overtone/ui/web/js/tables/trial_state.js";
import { anchoredTop, drawnRange, movedPosition, revealingTop } from "../../../src/overtone/ui/web/js/tables/virtual_rows.js";
import { randomness } from "./randomness.mjs";

// --- rows in view -----------------------------------------------------------------------------

test("the rows in view are drawn, and few others", () => {
  const { first, last } = drawnRange({ top: 32_000, height: 640 }, 32, 100_000);
  assert.ok(first <= 1000 && last >= 1020 && last - first < 60, `${first} ${last}`);
  assert.deepEqual(drawnRange({ top: 0, height: 640 }, 32, 3), { first: 0, last: 3 });
  assert.deepEqual(drawnRange({ top: 99_999, height: 640 }, 32, 3), { first: 3, last: 3 });
  assert.deepEqual(drawnRange({ top: 0, height: 640 }, 32, 0), { first: 0, last: 0 });
});

test("a new order keeps the row on top where it is", () => {
  const before = Uint32Array.of(5, 4, 3, 2, 1, 0);
  const after = Uint32Array.of(9, 8, 7, 5, 4, 3, 2, 1, 0);
  assert.equal(anchoredTop(before, after, 2 * 32 + 7, 32), 5 * 32 + 7);
  assert.equal(anchoredTop(before, after, 0, 32), 0, "the first rows stay in view");
  assert.equal(anchoredTop(before, Uint32Array.of(1, 0), 2 * 32, 32), 32, "its row is gone");
});

test("keys move by rows, pages and to the ends", () => {
  const moved = (/** @type {string} */ key, at = 50) => movedPosition(key, false, at, 100, 20);
  assert.deepEqual(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End", "x"].map((key) => moved(key)), [51, 49, 70, 30, 0, 99, null]);
  assert.equal(moved("ArrowDown", 99), 99);
  assert.equal(moved("ArrowUp", -1), 0);
  assert.equal(revealingTop(10, { top: 0, height: 320 }, 32), 32);
  assert.equal(revealingTop(10, { top: 640, height: 320 }, 32), 320);
  assert.equal(revealingTop(10, { top: 64, height: 640 }, 32), 64);
});

/** @param {number[]} loss */
function tableOf(loss) {
  const made = new Table();
  made.length = loss.length;
  made.ids = loss.map((_, i) => `t${i}`);
  made.goals = [["loss", "min"]];
  const column = { key: "metric:loss", group: /** @type {const} */ ("metric"), name: "loss", values: Float32Array.from(loss), levels: null, isLog: false, isInteger: false };
  made.columns.set(column.key, column);
  return made;
}

test("the order follows new results, but not under the reader's hand", () => {
  const order = new RowOrder();
  const now = tableOf([3, 1, 2]);
  const sorting = { key: "metric:loss", isDescending: false };
  const none = { text: "", mask: null };
  const follow = (/** @type {number} */ at, isHeld = false, filtered = none, by = sorting) => order.follow(now, by, filtered, { now: at, isHeld });
  assert.deepEqual(follow(0), { isNew: true, isAsked: true, isLate: false });
  assert.deepEqual([...order.rows], [1, 2, 0]);
  now.columns.get("metric:loss")?.values.set([0, 1, 2]);
  now.version.value += 1;
  assert.deepEqual(follow(100), { isNew: false, isAsked: false, isLate: true }, "it changed just now");
  assert.deepEqual(follow(5000, true), { isNew: false, isAsked: false, isLate: true }, "the reader is in the rows");
  assert.deepEqual([...order.rows], [1, 2, 0]);
  assert.deepEqual(follow(5000), { isNew: true, isAsked: false, isLate: false });
  assert.deepEqual([...order.rows], [0, 1, 2]);
  assert.equal(follow(5001, true, none, { key: "", isDescending: true }).isAsked, true, "the reader asked for another order");
  assert.deepEqual([...order.rows], [2, 1, 0]);
});

test("the filter follows the table", () => {
  table.value = tableOf([3, 1, 2]);
  const stop = followFilter();
  setFilter("loss < 2.5");
  assert.deepEqual([...(filter.value.mask ?? [])], [0, 1, 1]);
  table.value.columns.get("metric:loss")?.values.set([0]);
  table.value.version.value += 1;
  assert.deepEqual([filter.value.text, filter.value.count], ["loss < 2.5", 3]);
  assert.throws(() => setFilter("los < 1"), { key: "unknown_name" });
  assert.equal(filter.value.text, "loss < 2.5");
  table.value = new Table();
  assert.deepEqual(filter.value, { text: "loss < 2.5", mask: null, count: 0 }, "there is no such column yet");
  stop();
  setFilter("");
});

test("exact values replace those that they round to, and no others", () => {
  const exact = new ExactValues();
  exact.rows.set(0, { "param:lr": 0.1 });
  const column = { key: "param:lr", group: /** @type {const} */ ("param"), name: "lr", values: Float32Array.of(0.1, 0.2), levels: null, isLog: false, isInteger: false };
  assert.equal(exact.value(column, 0, Math.fround(0.1)), 0.1);
  assert.equal(exact.value(column, 0, Math.fround(0.3)), Math.fround(0.3), "the trial has another value by now");
  assert.equal(exact.value(column, 1, Math.fround(0.2)), Math.fround(0.2));
  assert.deepEqual([exact.isStale(column, 0), exact.isStale(column, 1)], [false, true]);
});

test("a trial that was ended early is told from a finished one", () => {
  const made = tableOf([1, 2, 3]);
  const levels = (/** @type {string} */ key, /** @type {number[]} */ codes, /** @type {string[]} */ names) =>
    made.columns.set(key, { key, group: "fact", name: key.slice(5), values: Int8Array.from(codes), levels: names, isLog: false, isInteger: false });
  levels("fact:status", [0, 0, 1], ["TERMINATED", "RUNNING"]);
  levels("fact:end", [0, 1, -1], ["finished", "asha"]);
  assert.deepEqual([0, 1, 2].map((row) => stateOf(made, row)), ["TERMINATED", "STOPPED", "RUNNING"]);
});

// --- output -----------------------------------------------------------------------------------

test("colours of output become classes, and other sequences go", () => {
  const { pieces } = piecesOf("a\x1b[1;31mred\x1b[0m b\x1b]0;title\x07\x1b[2Jc\x1b[38;5;2mg\x1b[39m\x07");
  assert.deepEqual(pieces, [
    { text: "a", look: "" },
    { text: "red", look: "log-bold log-red" },
    { text: " b", look: "" },
    { text: "c", look: "" },
    { text: "g", look: "log-green" },
  ]);
});

test("a progress bar is what it showed last", () => {
  assert.equal(plainText("10 %\r50 %\r100 %\r"), "100 %");
});

test("characters that reorder or hide text are spelled out", () => {
  assert.equal(plainText("user\u202egpj.exe\u200b"), "user\\u202egpj.exe\\u200b");
  assert.equal(plainText("سلام"), "سلام");
});

test("a line of 1 MB is cut, and cheap", () => {
  const { pieces, hidden } = piecesOf("x".repeat(1 << 20));
  assert.equal(hidden, (1 << 20) - pieces[0].text.length);
  assert.ok(pieces[0].text.length < 10_000);
  assert.ok(piecesOf("\x1b[31mx".repeat(100_000), 1 << 20).pieces.length <= 501);
});

test("random bytes of output raise nothing and leave no control character", () => {
  const random = randomness(5);
  for (let round = 0; round < 2000; round += 1) {
    const parts = Array.from({ length: 20 }, () => (random() < 0.4 ? "\x1b[" : random() < 0.3 ? "\x1b" : String.fromCharCode(Math.floor(random() * 300))));
    const shown = piecesOf(parts.join("")).pieces.map(({ text }) => text).join("");
    assert.doesNotMatch(shown, /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/, JSON.stringify(parts.join("")));
  }
});

// --- configs, decisions, texts ----------------------------------------------------------------

test("a config is written as Python", () => {
  const config = { lr: 1e-3, n: 3, on: true, off: null, "a b\"": ["x", { y: Infinity }], "\u202e": "é\n😀" };
  assert.equal(
    pythonLiteral(config),
    '{\n    "lr": 0.001,\n    "n": 3,\n    "on": True,\n    "off": None,\n    "a b\\"": ["x", {\n        "y": float("inf"),\n    }],\n    "\\u202e": "é\\n😀",\n}',
  );
  assert.equal(pythonLiteral({}), "{}");
});

test("pages of decisions are joined without gaps or repeats", () => {
  const page = (/** @type {number[]} */ numbers) => numbers.map((n) => /** @type {any} */ ({ n }));
  const numbers = (/** @type {{decisions: {n: number}[]}} */ { decisions }) => decisions.map(({ n }) => n);
  assert.deepEqual(numbers(merged(page([5, 4, 3]), page([3, 2, 1]), false)), [5, 4, 3, 2, 1]);
  assert.deepEqual(numbers(merged(page([5, 4, 3]), page([7, 6, 5]), true)), [7, 6, 5, 4, 3]);
  const gap = merged(page([5, 4, 3]), page([9, 8]), true);
  assert.deepEqual([numbers(gap), gap.isTouching], [[9, 8], false]);
  assert.deepEqual(numbers(merged([], page([2, 1]), true)), [2, 1]);
});

test("each decision has a kind", () => {
  assert.equal(kindOf({ kind: "ruled", decision: "stop" }), "stop");
  assert.equal(kindOf({ kind: "asked", decision: null }), "asked");
  assert.equal(kindOf({ kind: "unheard", decision: null }), "note");
});

test("each error of the filter has a text", () => {
  addReportTexts();
  const keys = ["unknown_name", "unknown_value", "no_extreme", "no_column", "no_text", "not_number", "not_comparable", "only_equality",
    "expected_condition", "expected_value", "expected_text", "expected_list", "expected_in", "expected_metric", "expected_and", "expected_comparison",
    "open_parenthesis", "open_list", "open_quote", "extra_parenthesis", "odd_character", "too_long", "too_deep"]; // prettier-ignore
  for (const key of keys) assert.ok(texts.value.en.tables[`filter_${key}`], key);
  assert.deepEqual(Object.keys(texts.value.zh.tables).sort(), Object.keys(texts.value.en.tables).sort());
});
