// The guide of overtone demo: what it says of a killed driver, and what its form sends.
import assert from "node:assert/strict";
import { test } from "node:test";
import "../../../src/overtone/ui/web/js/parts/guide.js";
import { configOf, suggestion } from "../../../src/overtone/ui/web/js/guide/add.js";
import { stoppedIn } from "../../../src/overtone/ui/web/js/guide/guide.js";
import { asked, followed } from "../../../src/overtone/ui/web/js/guide/kill.js";

const driver = (/** @type {number} */ pid, n = 40, results = 20) => ({ driver: { pid }, n, results });

test("a kill is over when another process has every record", () => {
  const start = asked(driver(7), 41, 100);
  assert.equal(start.records, 41);
  assert.equal(followed(start, driver(7, 42), 100.1), start); // an overview from before the kill
  const killed = followed(start, { driver: null, n: 41, results: 20 }, 100.2);
  assert.equal(killed.phase, "killed");
  assert.equal(followed(killed, driver(8, 41), 101), killed); // it reads the journal still
  const resumed = followed(killed, driver(8, 43, 21), 102.2);
  assert.deepEqual([resumed.phase, resumed.newPid, resumed.tookS], ["resumed", 8, 2]);
  assert.equal(followed(resumed, driver(9), 105), resumed);
});

test("a kill whose gap was not seen is noticed by the new process", () => {
  assert.equal(followed(asked(driver(7), 40, 0), driver(8, 42), 1).phase, "resumed");
});

test("the newest trial that a scheduler stopped is found", () => {
  assert.equal(stoppedIn([{ kind: "ended", trial_id: "a" }, { kind: "ruled", decision: "stop", trial_id: "b" }]), "b");
  assert.equal(stoppedIn([]), undefined);
  assert.equal(stoppedIn(undefined), undefined);
});

/** @type {any[]} */
const columns = [
  { name: "lr", values: new Float64Array([0.123456, NaN]), levels: null, isInteger: false },
  { name: "hidden", values: new Int32Array([123456, 8]), levels: null, isInteger: true },
  { name: "activation", values: new Int8Array([1, -1]), levels: ["relu", "tanh", true], isInteger: false },
];

test("the form begins with the values of the best trial", () => {
  assert.deepEqual(suggestion(columns, 0), { lr: "0.123", hidden: "123456", activation: "tanh" });
  assert.deepEqual(suggestion(columns, 1), { lr: "", hidden: "8", activation: "relu" });
  assert.deepEqual(suggestion(columns, -1), { lr: "", hidden: "", activation: "relu" });
});

test("the form sends numbers as numbers and levels as they are", () => {
  assert.deepEqual(configOf(columns, { lr: "1e-3", hidden: "32", activation: "true" }), { lr: 0.001, hidden: 32, activation: true });
  for (const wrong of [{ lr: "" }, { lr: "much" }, { hidden: "1.5" }]) {
    assert.throws(() => configOf(columns, { lr: "1", hidden: "1", activation: "relu", ...wrong }), /number/);
  }
});
