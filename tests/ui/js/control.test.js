import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, configOf, fieldsOf, textOf, valueOf } from "../../../src/overtone/ui/web/js/control/fields.js";
import { askNow, isPossible, newId } from "../../../src/overtone/ui/web/js/control/requests.js";
import { experiment, overview, source } from "../../../src/overtone/ui/web/js/state.js";
import { tokenIn } from "../../../src/overtone/ui/web/js/ui/login.js";
import { countsOf } from "../../../src/overtone/ui/web/js/data/counts.js";

test("values become text and values again", () => {
  for (const value of [0.1, 1e-7, 64, true, null, "relu", 'a "b"', "3", [1, 2], { a: 1 }]) {
    assert.deepEqual(valueOf({ kind: "choice", isInteger: false }, textOf(value)), { value });
  }
  assert.deepEqual(valueOf({ kind: "json", isInteger: false }, "relu"), { value: "relu" });
  assert.deepEqual(valueOf({ kind: "number", isInteger: false }, " 1e-3 "), { value: 0.001 });
  assert.deepEqual(valueOf({ kind: "number", isInteger: true }, "1.5"), { isWrong: true });
  assert.deepEqual(valueOf({ kind: "number", isInteger: false }, "abc"), { isWrong: true });
  assert.deepEqual(valueOf({ kind: "number", isInteger: false }, ""), {});
});

test("only changed fields count as changes", () => {
  assert.deepEqual(changed({ lr: "0.1", width: "64" }, { lr: "0.1 ", width: "32" }), ["width"]);
});

test("a config must be an object", () => {
  assert.deepEqual(configOf('{"lr": 1}'), { config: { lr: 1 } });
  assert.equal(configOf("[1]").error, "object");
  assert.ok(configOf("{").error);
});

test("fields follow the columns", () => {
  const column = (/** @type {any} */ more) => ({ key: "", group: "param", levels: null, isLog: false, isInteger: false, ...more });
  const fields = fieldsOf([
    column({ name: "lr", values: Float64Array.of(0.5, NaN, 0.1) }), column({ name: "act", values: Int8Array.of(0), levels: ["relu"] }),
    column({ name: "loss", group: "metric", values: Float64Array.of(1) })]);
  assert.deepEqual(fields.map(({ name, kind, low, high }) => [name, kind, low, high]), [["lr", "number", 0.1, 0.5], ["act", "choice", NaN, NaN]]);
});

test("fields offer what the space has, and what only a trial has", () => {
  const act = /** @type {any} */ ({ key: "", group: "param", name: "act", values: Int8Array.of(0), levels: ["relu", "own", "x".repeat(400)], isLog: false, isInteger: false });
  const none = { low: null, high: null, is_integer: false, options: [] };
  const fields = fieldsOf([act], [
    { ...none, name: "lr", low: 0.001, high: 1 }, { ...none, name: "act", options: ["tanh", "relu"] }, { ...none, name: "batch", is_integer: true, options: [16, 32] }]);
  assert.deepEqual(fields.map(({ name, kind, low, options, isInteger }) => [name, kind, low, options, isInteger]), [
    ["lr", "number", 0.001, [], false], ["act", "choice", NaN, ["tanh", "relu", "own"], false], ["batch", "number", NaN, [16, 32], true]]);
});

test("a double click is one request", async () => {
  /** @type {string[]} */
  const sent = [];
  source.value = /** @type {any} */ ({ can: { act: true }, act: async (/** @type {any[]} */ ...given) => (sent.push(given[4]), { n: 5 }) });
  experiment.value = "e";
  overview.value = { state: "running" };
  await Promise.all([askNow("pause", "t1"), askNow("pause", "t1"), askNow("pause", "t2")]);
  assert.equal(sent.length, 2);
  assert.notEqual(newId(), newId());
});

test("only what can be is offered", () => {
  source.value = /** @type {any} */ ({ can: { act: true } });
  overview.value = { state: "running" };
  assert.ok(isPossible("stop") && isPossible("pause", "RUNNING") && !isPossible("pause", "TERMINATED") && isPossible("resume", "PAUSED"));
  overview.value = { state: "crashed" };
  assert.ok(!isPossible("stop") && !isPossible("pause", "RUNNING") && isPossible("add") && isPossible("clone", "TERMINATED"));
  source.value = /** @type {any} */ ({ can: { act: false } });
  assert.ok(!isPossible("add") && !isPossible("note"));
});

test("a token is found in a pasted address", () => {
  assert.equal(tokenIn(" abc_-1 "), "abc_-1");
  assert.equal(tokenIn("http://127.0.0.1:8470/#token=abc_-1&next=/e/x"), "abc_-1");
});

test("nothing runs without a driver", () => {
  assert.deepEqual(countsOf({ RUNNING: 2, TERMINATED: 3, PAUSED: 1 }, false),
    { completed: 3, stopped: 0, failed: 0, interrupted: 2, running: 0, paused: 1, pending: 0 });
});
