import assert from "node:assert/strict";
import test from "node:test";
import { took } from "../../../src/overtone/ui/web/js/format.js";

test("what took less than a second is told in milliseconds", () => {
  const told = [0, 0.00042, 0.0123456, 0.36, 0.9994, 0.9996, 1.26, 75].map(took);
  assert.deepEqual(told, ["0 ms", "0.42 ms", "12.3 ms", "360 ms", "999 ms", "1.0 s", "1.3 s", "1 min 15 s"]);
  assert.deepEqual([null, undefined, NaN, -1].map(took), ["", "", "", "0.0 s"]);
});
