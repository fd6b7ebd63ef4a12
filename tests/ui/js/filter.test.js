import assert from "node:assert/strict";
import { test } from "node:test";

import { FilterError } from "../../../src/overtone/ui/web/js/tables/filter/filter_error.js";
import { applyFilter, filterable } from "../../../src/overtone/ui/web/js/tables/filter/filter.js";
import { complete } from "../../../src/overtone/ui/web/js/tables/filter/complete.js";
import { randomness } from "./randomness.mjs";

/** @param {string} key @param {any} values @param {any[] | null} levels */
function column(key, values, levels = null) {
  const group = /** @type {"param" | "metric" | "fact"} */ (key.slice(0, key.indexOf(":")));
  return { key, group, name: key.slice(key.indexOf(":") + 1), values, levels, isLog: false, isInteger: false };
}

/** @param {ReturnType<typeof column>[]} columns @param {string[]} ids */
function tableOf(columns, ids) {
  return {
    length: ids.length, ids, goals: /** @type {[string, string][]} */ ([["loss", "min"]]),
    columns: new Map(columns.map((one) => [one.key, one])),
  }; // prettier-ignore
}

const SMALL = filterable(
  tableOf(
    [
      column("param:lr", Float32Array.of(1e-4, 1e-3, 1e-2, 0.1, NaN)),
      column("param:optimizer/lr", Float64Array.of(1, 2, 3, 4, 5)),
      column("param:units", Int8Array.of(0, 1, 2, 0, -1), [16, 32, 64]),
      column("param:activation", Int8Array.of(0, 1, 2, 0, -1), ["relu", "tanh", null]),
      column("param:use_bn", Int8Array.of(0, 1, 1, 0, -1), [false, true]),
      column("param:layers", Int8Array.of(0, 1, -1, -1, 0), [[64, 64], { a: 1 }]),
      column("metric:loss", Float32Array.of(0.5, 0.3, NaN, 0.1, 0.2)),
      column("metric:loss:min", Float32Array.of(0.4, 0.3, NaN, 0.1, 0.05)),
      column("metric:loss:max", Float32Array.of(0.9, 0.8, NaN, 0.7, Infinity)),
      column("fact:status", Int8Array.of(0, 1, 1, 0, 2), ["RUNNING", "TERMINATED", "ERROR"]),
      column("fact:source", Int32Array.of(-1, 0, 1, -1, 3)),
      column("fact:allowed", Uint8Array.of(1, 1, 0, 1, 0)),
    ],
    ["t_a", "t_b", "3f_c", "t_d", "t_e"],
  ),
);

/** @param {string} text @param {any} table */
function rows(text, table = SMALL) {
  const { mask } = applyFilter(text, table);
  return mask === null ? "all" : [...mask].map((is, i) => (is ? i : "")).join("");
}

/** @param {string} text @param {any} table */
function failure(text, table = SMALL) {
  try {
    applyFilter(text, table);
  } catch (error) {
    assert.ok(error instanceof FilterError, `${text}: ${error}`);
    return error;
  }
  return assert.fail(`accepted: ${text}`);
}

for (const [text, expected] of [
  ["", "all"],
  ["  ", "all"],
  ["lr < 1e-3", "0"],
  ["lr<=1e-3", "01"],
  ["lr <= 0.001 and loss<.4", "1"],
  ["lr == .1", "3"],
  ["lr = 0.1", "3"],
  ["lr != .1", "012"],
  ["not lr == .1", "0124"],
  ["1e-4 < lr <= 1e-2", "12"],
  ["1e-4 ≤ lr ≤ 1e-3", "01"],
  [".1 > lr > 1e-4", "12"],
  ["1e-3 > lr", "0"],
  ["lr<1e-3 and loss<.6 and status==RUNNING", "0"],
  ["status == running", "03"],
  ["status is TERMINATED", "12"],
  ["status is not TERMINATED", "034"],
  ["status == PENDING", ""],
  ["status in (RUNNING, ERROR)", "034"],
  ["status in [RUNNING]", "03"],
  ["status not in (RUNNING, ERROR)", "12"],
  ["lr is missing", "4"],
  ["lr is not missing", "0123"],
  ["lr == nan", "4"],
  ["lr in (1e-3, 0.1, missing)", "134"],
  ["units == 32", "1"],
  ["units >= 32", "12"],
  ["units in (16, 64)", "023"],
  ["units is missing", "4"],
  ["activation == none", "2"],
  ["activation == None", "2"],
  ["activation is missing", "4"],
  ["activation ~ AN", "1"],
  ["activation contains 'el'", "03"],
  ["activation not contains el", "124"],
  ["activation !~ el", "124"],
  ["activation > 'relu'", "1"],
  ["use_bn", "12"],
  ["not use_bn", "034"],
  ["use_bn == true", "12"],
  ["use_bn == False", "03"],
  ["layers ~ 64", "0 4".replace(" ", "")],
  ['layers == "[64,64]"', "04"],
  ['"optimizer/lr" < 3', "01"],
  ["`optimizer/lr` < 3", "01"],
  ["optimizer/lr < 3", "01"],
  ["2 < 'optimizer/lr' <= 4", "23"],
  ["param:lr < 1e-3", "0"],
  ["LOSS < .25", "34"],
  ["best(loss) < .25", "34"],
  ["min(loss) < .07", "4"],
  ["max(loss) == inf", "4"],
  ["last(loss) == .5", "0"],
  ["loss > best(loss)", "04"],
  ["loss == best(loss)", "13"],
  ["trial ~ t_", "0134"],
  ["trial == t_a", "0"],
  ["trial in (t_a, 3f_c)", "02"],
  ["source == t_a", "1"],
  ["source is missing", "03"],
  ["allowed", "013"],
  ["lr < 1e-3 or lr > .05 and loss < .2", "03"],
  ["(lr < 1e-3 or lr > .05) and loss < .2", "3"],
  ["lr < 1e-3 || status == ERROR", "04"],
  ["! (lr < 1e-3) && loss < .4", "134"],
  ["（lr ＜ 1e-3）", "0"],
  ["loss < 500ms", "134"],
  ["loss > -1", "0134"],
  ["loss > -inf", "0134"],
]) {
  test(`filter: ${text}`, () => assert.equal(rows(text), expected));
}

for (const [text, key, start, nearest] of [
  ["lerning < 1", "unknown_name", 0, ""],
  ["los < 1", "unknown_name", 0, "loss"],
  ["lr < los", "unknown_name", 5, "loss"],
  ["status == RUNING", "unknown_value", 10, "RUNNING"],
  ["lr <", "expected_value", 4, ""],
  ["lr < and", "expected_value", 5, ""],
  ["lr", "expected_comparison", 2, ""],
  ["lr 3", "expected_and", 3, ""],
  ["(lr < 1", "open_parenthesis", 0, ""],
  ["lr < 1)", "extra_parenthesis", 6, ""],
  ["lr in 3", "expected_list", 6, ""],
  ["lr in (3", "open_list", 6, ""],
  ["lr not 3", "expected_in", 7, ""],
  ["1 < 2", "no_column", 0, ""],
  ["lr ~ 1", "no_text", 0, ""],
  ["lr < 'a'", "not_number", 5, ""],
  ["lr < missing", "only_equality", 5, ""],
  ["lr < activation", "not_comparable", 0, ""],
  ["min(units) < 3", "no_extreme", 0, ""],
  ["lr < 1 and", "expected_condition", 10, ""],
  ["lr < 1 # 2", "odd_character", 7, ""],
  ["lr < 'abc", "open_quote", 5, ""],
]) {
  test(`filter error: ${text}`, () => {
    const error = failure(/** @type {string} */ (text));
    assert.deepEqual([error.key, error.start, error.nearest], [key, start, nearest]);
  });
}

test("a filter nested too deeply is refused", () => {
  assert.equal(failure(`${"(".repeat(900)}lr<1${")".repeat(900)}`).key, "too_deep");
  assert.equal(failure("not ".repeat(400) + "lr<1").key, "too_deep");
  assert.equal(failure("a".repeat(5000)).key, "too_long");
});

test("names that look like parts of objects are unknown names", () => {
  for (const name of ["__proto__", "constructor", "toString"]) assert.equal(failure(`${name} < 1`).key, "unknown_name");
});

// --- against a naive evaluator ----------------------------------------------------------------

/** @typedef {(row: Record<string, any>) => boolean} Test */

/**
 * Draws an expression together with its meaning for one row of plain values.
 * @param {() => number} random
 * @param {number} depth
 * @returns {[string, Test]}
 */
function drawn(random, depth) {
  const roll = random();
  if (depth > 0 && roll < 0.5) {
    const [a, f] = drawn(random, depth - 1);
    const [b, g] = drawn(random, depth - 1);
    if (roll < 0.2) return [`(${a}) and (${b})`, (row) => f(row) && g(row)];
    if (roll < 0.4) return [`(${a}) or (${b})`, (row) => f(row) || g(row)];
    return [`not (${a})`, (row) => !f(row)];
  }
  const name = ["x", "y", "k", "c"][Math.floor(random() * 4)];
  if (name === "c") {
    const word = ["a", "b", "cc"][Math.floor(random() * 3)];
    if (random() < 0.3) return [`c ~ ${word}`, (row) => row.c !== null && row.c.includes(word)];
    return random() < 0.5 ? [`c == ${word}`, (row) => row.c === word] : [`c != ${word}`, (row) => row.c !== null && row.c !== word];
  }
  const operator = ["<", "<=", ">", ">=", "==", "!="][Math.floor(random() * 6)];
  if (random() < 0.15) return [`${name} ${operator} y`, (row) => holds(row[name], operator, row.y)];
  const bound = Math.round(random() * 8) / 10;
  if (random() < 0.2) {
    return [`${bound} ${operator} ${name} < 0.6`, (row) => holds(bound, operator, row[name]) && holds(row[name], "<", 0.6)];
  }
  if (random() < 0.2) return [`${name} in (${bound}, .5)`, (row) => row[name] === bound || row[name] === 0.5];
  if (random() < 0.2) return [`${name} is missing`, (row) => row[name] === null];
  return [`${name} ${operator} ${bound}`, (row) => holds(row[name], operator, bound)];
}

/** @param {number | null} a @param {string} operator @param {number | null} b */
function holds(a, operator, b) {
  if (a === null || b === null) return false;
  if (operator === "<") return a < b;
  if (operator === "<=") return a <= b;
  if (operator === ">") return a > b;
  if (operator === ">=") return a >= b;
  return operator === "==" ? a === b : a !== b;
}

test("random filters agree with a naive evaluator", () => {
  const random = randomness(7);
  for (let round = 0; round < 400; round += 1) {
    const exact = Array.from({ length: 30 }, () => ({
      x: random() < 0.1 ? null : Math.round(random() * 10) / 10,
      y: random() < 0.1 ? null : Math.round(random() * 10) / 10,
      k: random() < 0.1 ? null : [0.1, 0.5, 1][Math.floor(random() * 3)],
      c: random() < 0.1 ? null : ["a", "b", "cc", "abc"][Math.floor(random() * 4)],
    }));
    const levels = { k: [0.1, 0.5, 1], c: ["a", "b", "cc", "abc"] };
    const table = filterable(
      tableOf(
        [
          column("param:x", Float32Array.from(exact, (row) => row.x ?? NaN)),
          column("metric:y", Float64Array.from(exact, (row) => row.y ?? NaN)),
          column("param:k", Int8Array.from(exact, (row) => levels.k.indexOf(row.k ?? -1)), levels.k),
          column("param:c", Int8Array.from(exact, (row) => levels.c.indexOf(row.c ?? "")), levels.c),
        ],
        exact.map((_, i) => `t${i}`),
      ),
    );
    const [text, isTrue] = drawn(random, 4);
    const expected = exact.map((row, i) => (isTrue(row) ? i : "")).join("");
    assert.equal(rows(text, table), expected, text);
  }
});

// --- fuzz -------------------------------------------------------------------------------------

const SOUP = [
  "lr", "loss", "status", "units", "activation", "use_bn", "trial", "source", "layers", "best(loss)", "min(", "max", ")", "(", "((", "[",
  "]", ",", "and", "or", "not", "in", "is", "contains", "missing", "none", "nan", "inf", "<", "<=", "==", "!=", "~", "!~", ">", "=", "1",
  "1e-3", ".5", "-3", "1e999", "'x'", '"', "'", "`", "`lr`", "\\", "é", "参数", "\u202e", "\u0000", "😀", "\ud800", "RUNNING", "true", ":",
]; // prettier-ignore

test("random tokens and random text raise nothing but FilterError", () => {
  const random = randomness(11);
  let accepted = 0;
  for (let round = 0; round < 30000; round += 1) {
    const words = Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
      random() < 0.9 ? SOUP[Math.floor(random() * SOUP.length)] : String.fromCharCode(Math.floor(random() * 65536)),
    );
    const text = words.join(random() < 0.7 ? " " : "");
    try {
      applyFilter(text, SMALL);
      accepted += 1;
    } catch (error) {
      assert.ok(error instanceof FilterError, `${JSON.stringify(text)}: ${error}`);
      assert.ok(error.start >= 0 && error.start <= error.end && error.end <= text.length, JSON.stringify(text));
    }
    complete(text, Math.floor(random() * (text.length + 1)), SMALL);
  }
  assert.ok(accepted > 20, `${accepted} accepted`);
});

test("long texts are answered at once", () => {
  for (const part of ["(", "not ", "lr<", "'", "a/", "1_", "lr<1 or ", "`\\", "- "]) {
    const text = part.repeat(2000 / part.length);
    try {
      applyFilter(text, SMALL);
    } catch (error) {
      assert.ok(error instanceof FilterError);
    }
    complete(text, text.length, SMALL);
  }
});

// --- completion -------------------------------------------------------------------------------

/** @param {string} text with the caret as "|" */
function completed(text) {
  const caret = text.indexOf("|");
  const bare = text.replace("|", "");
  return complete(bare, caret, SMALL).completions.map((one) => bare.slice(0, complete(bare, caret, SMALL).start) + one.text);
}

test("names, values and connectives are completed", () => {
  assert.ok(completed("|").includes("lr"));
  assert.deepEqual(completed("lo|"), ["loss", "allowed"]);
  assert.ok(!completed("|").some((one) => one.includes(":min")));
  assert.ok(completed("status == R|").includes("status == RUNNING"));
  assert.ok(completed("status == |").includes("status == PAUSED"));
  assert.ok(completed("status in (RUNNING, E|").includes("status in (RUNNING, ERROR"));
  assert.ok(completed("activation is not r|").includes("activation is not relu"));
  assert.ok(completed("lr |").includes("lr <="));
  assert.deepEqual(completed("lr < 3 |"), ["lr < 3 and", "lr < 3 or"]);
  assert.ok(completed("lr < 3 and opt|").includes("lr < 3 and optimizer/lr"));
  assert.ok(completed("'opt|").includes("optimizer/lr"));
  assert.deepEqual(completed("lr < 3|"), []);
});
