import assert from "node:assert/strict";
import { test } from "node:test";
import { encode } from "./encode.mjs";
import { bytesOf, decode } from "../../../src/overtone/ui/web/js/data/message.js";

const parts = [
  { key: "param:lr", values: new Float32Array([0.5, NaN, 0.25]), is_log: true },
  { key: "fact:status", values: new Int8Array([0, 1, -1]), levels: ["RUNNING", "ERROR"] },
  { key: "metric:loss", values: new Float64Array([1.1, 2.2, 3.3]) },
];

test("a message is read as it was written", () => {
  const { header, arrays, ids } = decode(encode({ n: 7, length: 3, rows: null, goals: [["loss", "min"]] }, parts, ["a", "b", "ü"]));
  assert.equal(header.n, 7);
  assert.deepEqual(ids, ["a", "b", "ü"]);
  assert.deepEqual([...(arrays.get("metric:loss") ?? [])], [1.1, 2.2, 3.3]);
  assert.deepEqual([...(arrays.get("fact:status") ?? [])], [0, 1, -1]);
  assert.equal(arrays.get("param:lr")?.[1], NaN);
  assert.equal(header.arrays[0].is_log, true);
});

test("arrays without a key are found by their number", () => {
  const { arrays } = decode(encode({ kind: "scene" }, [{ values: new Float32Array([1, 2]) }, { values: new Int32Array([3]) }].map(
    (part) => /** @type {any} */ (part))));
  assert.deepEqual([...arrays.keys()], ["0", "1"]);
});

test("a message that is cut off is refused", () => {
  const whole = encode({ n: 1, length: 3, rows: null, goals: [] }, parts, ["a", "b", "c"]);
  for (const length of [0, 3, 20, whole.byteLength - 40]) {
    assert.throws(() => decode(whole.slice(0, length)), RangeError);
  }
});

test("base64 gives the same bytes", () => {
  const bytes = new Uint8Array(1000).map((_, i) => (i * 7) % 256);
  assert.deepEqual(new Uint8Array(bytesOf(Buffer.from(bytes).toString("base64"))), bytes);
});
