// Scales, ticks, bins, indices and texts of plots.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { scenes } from "../../../src/overtone/ui/web/js/i18n/zh/scenes.js";
import { bestSoFar } from "../../../src/overtone/ui/web/js/plots/best.js";
import { binHeight, binsOf, bundlesOf, N_BINS, ranksOf } from "../../../src/overtone/ui/web/js/plots/bins.js";
import { brushText } from "../../../src/overtone/ui/web/js/plots/brush_text.js";
import { joinedCurves } from "../../../src/overtone/ui/web/js/plots/curve_data.js";
import { printable } from "../../../src/overtone/ui/web/js/format.js";
import { fitted, shortDuration, shortened, shortNumber } from "../../../src/overtone/ui/web/js/plots/labels.js";
import { nearestIndex, nearestPoint, neighbour } from "../../../src/overtone/ui/web/js/plots/nearest.js";
import { ROLES, SHADES, shadeColour } from "../../../src/overtone/ui/web/js/plots/palette.js";
import { parallelAxis, rangeOf } from "../../../src/overtone/ui/web/js/plots/parallel_axes.js";
import { resolved } from "../../../src/overtone/ui/web/js/plots/resolve.js";
import { extent, placed, scaleOf, shareOf, valueAt } from "../../../src/overtone/ui/web/js/plots/scales.js";
import { slotsOf } from "../../../src/overtone/ui/web/js/plots/slots.js";
import { ticksOf } from "../../../src/overtone/ui/web/js/plots/ticks.js";

const palette = readFileSync(new URL("../../../src/overtone/analysis/drawing/palette.py", import.meta.url), "utf8");

test("colours are those of analysis/drawing/palette.py", () => {
  const roles = [...palette.matchAll(/"(\w+)": Colour\("(#\w+)", "(#\w+)"\)/g)];
  assert.ok(roles.length > 15);
  for (const [, name, light, dark] of roles) assert.deepEqual(ROLES[name], [light, dark], name);
  const shades = palette.slice(palette.indexOf("SHADES = ("), palette.indexOf("fmt: skip"));
  assert.deepEqual([...shades.matchAll(/Colour\("(#\w+)", "(#\w+)"\)/g)].map((one) => [one[1], one[2]]), SHADES);
  assert.equal(shadeColour(NaN, false), "");
  assert.equal(shadeColour(1, false), SHADES[SHADES.length - 1][0]);
});

test("numbers and times have the digits of analysis/drawing/labels.py", () => {
  const texts = [0, 12, 1234567, 12345.6, 0.012345, 1.5e-7, 1e300, NaN, -Infinity, 0.5, -3.25].map(shortNumber);
  assert.deepEqual(texts, ["0", "12", "1,234,567", "12,346", "0.01235", "1.5e-7", "1e300", "NaN", "-inf", "0.5", "-3.25"]);
  assert.deepEqual([0.0065, 0.25, 90, 300, 9000, 259200].map(shortDuration), ["6.5 ms", "0.25 s", "90 s", "5 min", "2.5 h", "3 d"]);
});

test("texts lose what turns or controls a line, and are shortened in the middle", () => {
  assert.equal(printable("a\u202eb\x1b[31m"), "a b [31m");
  assert.equal(shortened("optimizer/deep/learning_rate", 15), "optimiz…ng_rate");
  assert.equal(shortened("x".repeat(1e6), 9).length, 9);
  assert.ok(fitted("w".repeat(3000), 50, (text) => 7 * text.length).length <= 7);
});

test("scales place extreme, equal and missing values", () => {
  const huge = scaleOf({}, extent([[-1e308, 1e308, NaN, Infinity]], false));
  assert.equal(shareOf(huge, 0), 0.5);
  assert.deepEqual([...placed(huge, [NaN, 0], 10, 20)], [NaN, 15]);
  const equal = scaleOf({}, extent([[3, 3]], false));
  assert.equal(shareOf(equal, 3), 0.5);
  const log = scaleOf({ scale: "log" }, extent([[-1, 0, 0.01, 100]], true));
  assert.ok(Number.isNaN(shareOf(log, 0)) && Number.isNaN(shareOf(log, -1)));
  assert.ok(Math.abs(shareOf(log, 1) - 0.5) < 1e-12);
  assert.ok(Math.abs(valueAt(log, 0.5) - 1) < 1e-9);
  assert.equal(extent([[NaN]], false), null);
  assert.deepEqual(scaleOf({}, null, 0), { axis: {}, low: 0, high: 1 });
  const reversed = scaleOf({ is_reversed: true, low: 0, high: 4 }, null);
  assert.equal(shareOf(reversed, 1), 0.75);
  assert.deepEqual([...placed(reversed, [1], 0, 100)], [75]);
});

test("ticks are round numbers that fit", () => {
  const labels = (/** @type {any} */ axis, /** @type {[number, number]} */ limits, room = 400) =>
    ticksOf(scaleOf(axis, limits), room).map((tick) => tick.label);
  assert.deepEqual(labels({}, [0, 1]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
  assert.deepEqual(labels({ scale: "log" }, [1e-4, 1]), ["1e-4", "0.001", "0.01", "0.1", "1"]);
  assert.deepEqual(labels({ is_whole: true }, [0, 2]), ["0", "1", "2"]);
  assert.deepEqual(labels({ is_time: true }, [0, 3600]), ["0", "15 min", "30 min", "45 min", "60 min"]);
  assert.deepEqual(labels({ scale: "category", categories: ["a", "b"] }, [0, 1]), ["a", "b"]);
  for (const limits of /** @type {[number, number][]} */ ([[1e-320, 1e300], [-1e300, 1e300], [5, 5], [1e15, 1e15 + 1], [0, 1e-300]])) {
    for (const axis of [{}, { is_time: true }, ...(limits[0] > 0 ? [{ scale: "log" }] : [])]) {
      const found = labels(axis, limits);
      assert.ok(found.length < 40 && found.every((label) => !label.includes("NaN")), `${limits} ${found}`);
    }
  }
});

test("the nearest point is that of a search over all points", () => {
  let state = 5;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const x = Float32Array.from({ length: 500 }, (_, i) => (i % 50 ? random() * 200 : NaN));
  const y = Float32Array.from({ length: 500 }, () => random() * 120);
  const index = nearestIndex(x, y, 200, 120);
  for (let i = 0; i < 300; i++) {
    const [px, py] = [random() * 220 - 10, random() * 140 - 10];
    let best = -1;
    let least = 14 ** 2;
    for (let j = 0; j < 500; j++) {
      const distance = (x[j] - px) ** 2 + (y[j] - py) ** 2;
      if (distance <= least) [best, least] = [j, distance];
    }
    assert.equal(nearestPoint(index, px, py, 14), best);
  }
  assert.equal(nearestPoint(nearestIndex(new Float32Array(0), new Float32Array(0), 0, 0), 1, 1, 9), -1);
});

test("arrow keys reach the neighbour in their direction", () => {
  const x = Float32Array.of(0, 10, 20, 10, NaN);
  const y = Float32Array.of(0, 1, 0, -30, 0);
  const all = (/** @type {number} */ i) => x[i] === x[i];
  assert.equal(neighbour(x, y, 0, "ArrowRight", all), 1);
  assert.equal(neighbour(x, y, 1, "ArrowUp", all), 3);
  assert.equal(neighbour(x, y, 0, "ArrowLeft", all), -1);
  assert.equal(neighbour(x, y, 2, "ArrowLeft", (i) => i === 0), 0);
});

test("bundles count each trial once, missing values in a bin of their own", () => {
  const n = 2000;
  const left = Float32Array.from({ length: n }, (_, i) => (i % 7 ? (i % 100) / 99 : NaN));
  const right = Float32Array.from({ length: n }, (_, i) => (i % 31) / 30);
  const shades = Float32Array.from({ length: n }, (_, i) => (i % 5 ? i / n : NaN));
  const mask = Uint8Array.from({ length: n }, (_, i) => (i % 3 ? 1 : 0));
  for (const only of [null, mask]) {
    const found = bundlesOf(binsOf(left), binsOf(right), shades, only);
    const wanted = new Map();
    for (let i = 0; i < n; i++) if (!only || only[i]) {
      const key = binsOf(left)[i] * N_BINS + binsOf(right)[i];
      wanted.set(key, (wanted.get(key) ?? 0) + 1);
    }
    assert.equal(found.weights.length, wanted.size);
    found.weights.forEach((weight, i) => assert.equal(weight, wanted.get(found.left[i] * N_BINS + found.right[i])));
  }
  assert.deepEqual([...binsOf(Float32Array.of(NaN, 0, 1, 2, -1))], [0, 1, N_BINS - 1, N_BINS - 1, 1]);
  assert.ok(Number.isNaN(binHeight(0)) && binHeight(N_BINS - 1) < 1);
});

test("ranks are shares, the same for equal values", () => {
  assert.deepEqual([...ranksOf(Float64Array.of(3, 1, NaN, 2), true).shades], [0, 1, NaN, 0.5]);
  const found = ranksOf(Float32Array.of(1, 3, Infinity, 1, -2), false);
  assert.deepEqual([...found.ranked], [1, 0, 3, 4]);
  assert.deepEqual([...found.shades].map((share) => Math.round(share * 3)), [2, 3, NaN, 2, 0]);
  assert.deepEqual([...ranksOf(Float64Array.of(5), true).shades], [1]);
  assert.equal(ranksOf(Float64Array.of(NaN), true).ranked.length, 0);
});

test("the best so far passes over trials that break a constraint", () => {
  assert.deepEqual(bestSoFar([NaN, 3, 1, 2, 0.5], "min", [1, 1, 0, 1, 1]), { x: [1, 3, 4, 4], y: [3, 2, 0.5, 0.5], row: 4 });
  assert.deepEqual(bestSoFar([1, Infinity, 2, 0], "max", undefined), { x: [0, 2, 3], y: [1, 2, 2], row: 2 });
  assert.deepEqual(bestSoFar([], "min", undefined), { x: [], y: [], row: -1 });
});

/** @param {any} values @param {any} [more] @returns {any} */
const column = (values, more = {}) => ({ key: "param:x", name: "x", group: "param", values, levels: null, isLog: false, isInteger: false, ...more });

test("axes of parallel coordinates: numbers, logarithms, equal values, many categories", () => {
  const log = parallelAxis(column(Float64Array.of(1e-4, 1e-2, 1, NaN), { isLog: true }), 4, "others");
  assert.deepEqual([...log.heights].map((at) => Math.round(at * 1e6) / 1e6), [0, 0.5, 1, NaN]);
  assert.equal(log.hasMissing, true);
  assert.equal(log.valueAt(0), 1e-4);
  assert.deepEqual([...parallelAxis(column([2, 2]), 2, "").heights], [0.5, 0.5]);
  assert.deepEqual([...parallelAxis(column([-1e308, 1e308, 0]), 3, "").heights], [0, 1, 0.5]);
  assert.deepEqual([...parallelAxis(column([NaN, NaN]), 2, "").heights], [NaN, NaN]);
  const zero = parallelAxis(column([0, 1], { isLog: true }), 2, "");
  assert.deepEqual([...zero.heights], [0, 1]); // no logarithm of zero: a linear axis
  const levels = Array.from({ length: 10000 }, (_, i) => `level ${i}`);
  const many = parallelAxis(column(Int16Array.from({ length: 20000 }, (_, i) => (i < 5000 ? 7 : i % 10000)), { levels }), 20000, "others");
  assert.equal(many.ticks.length, 50);
  assert.equal(many.ticks[49].label, "9,951 others");
  assert.ok(many.levels?.includes("level 7"));
});

test("a brush becomes a filter expression with quoted names and outward rounding", () => {
  const table = { columns: new Map([["param:x", column([])], ["param:loss", column([])]]) };
  const axis = parallelAxis(column(Float64Array.of(0, 1 / 3, 1)), 3, "");
  assert.equal(brushText(table, [rangeOf(axis, [0.2, 0.66666])]), "x >= 0.2 and x <= 0.6667");
  assert.equal(brushText(table, [rangeOf(axis, [0, 0.5])]), "x <= 0.5");
  assert.equal(brushText(table, [{ key: "metric:loss", low: 1, high: 2 }]), "`metric:loss` >= 1 and `metric:loss` <= 2");
  assert.equal(brushText(table, [{ key: "param:a`b\\", low: 1 }]), "`a\\`b\\\\` >= 1");
  assert.equal(brushText(table, [{ key: "param:x", levels: ["a\"b", 3, true], hasMissing: true }]), '(x in ("a\\"b", 3, true) or x is missing)');
  assert.equal(brushText(table, [{ key: "param:x", levels: Array.from({ length: 5000 }, (_, i) => `level ${i}`) }]), "");
});

test("curves are lines by attempt, with a join between them", () => {
  const { x, columns, lines } = joinedCurves([{ id: "a", row: 0, segments: [
    { attempt: 0, changes: { lr: 1 }, t: [1, 2, 3], value: [3, null, 1] },
    { attempt: 1, changes: { lr: 0.5 }, source: "b", t: [3, 4], value: [2, 1] },
    { attempt: 1, t: [6], value: [0] },
  ] }]);
  assert.deepEqual(x, [1, 2, 3, 4, 6]);
  assert.deepEqual(lines.map((line) => [line.isJoin, line.label]), [[false, ""], [false, "#2, ← b, lr 0.5"], [false, "#2"], [true, ""]]);
  assert.deepEqual(columns[0], [3, null, 1, undefined, undefined]);
  assert.deepEqual(columns[3], [undefined, undefined, undefined, 1, 0]);
});

test("each trial has the lowest free slot of its node", () => {
  const found = slotsOf([0, 0, 1, NaN, 1, 0], [1, 3, 2, NaN, 4, 9], [0, 0, 0, 0, 0, 1]);
  assert.deepEqual([...found.lane], [0, 1, 0, -1, 2, 3]);
  assert.deepEqual(found.nodes, [{ node: 0, first: 0, n: 3 }, { node: 1, first: 3, n: 1 }]);
  assert.deepEqual(found.rows.map((rows) => [...rows]), [[0, 2], [1], [4], [5]]);
  let overlaps = 0;
  const started = Float64Array.from({ length: 3000 }, (_, i) => (i * 37) % 1000);
  const ended = started.map((at, i) => at + (i % 17));
  for (const rows of slotsOf(started, ended, null).rows) {
    for (let i = 1; i < rows.length; i++) if (started[rows[i]] < ended[rows[i - 1]]) overlaps++;
  }
  assert.equal(overlaps, 0);
});

test("arrays of a scene are put in their places", () => {
  const scene = resolved({ panels: [{ marks: [{ x: { array: 1 }, hover: ["a"], shade: null, texts: { texts: ["b"] } }] }] }, [[1], [2]]);
  assert.deepEqual(scene, { panels: [{ marks: [{ x: [2], hover: ["a"], shade: null, texts: ["b"] }] }] });
});

test("translated texts of figures are those of analysis/scenes/", () => {
  const folder = new URL("../../../src/overtone/analysis/scenes/", import.meta.url);
  const python = readdirSync(folder).filter((name) => name.endsWith(".py")).map((name) => readFileSync(new URL(name, folder), "utf8")).join("\n");
  for (const text of Object.keys(scenes)) {
    const [before, after] = text.split("{n}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const pattern = after === undefined ? before : `${before}\\{[^}]*\\}${after}`;
    assert.match(python, new RegExp(`"${pattern}"`), text);
  }
});
