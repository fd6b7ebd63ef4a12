import assert from "node:assert/strict";
import { test } from "node:test";
import { VIEWS, format, parse } from "../../../src/overtone/ui/web/js/router.js";

test("what is written is read again", () => {
  for (const view of VIEWS) {
    for (const experiment of ["digits", "a b/c", "100%", "#?&", "../x", "试验"]) {
      const route = { view, experiment, trial: view === "trial" ? "a/b?#%" : "", query: { metric: "val/loss", q: "a&b=c" } };
      assert.deepEqual(parse(format(route)), route);
    }
  }
  assert.deepEqual(parse(format({})), { view: "experiments", experiment: "", trial: "", query: {} });
});

test("addresses that lead nowhere lead to the nearest view", () => {
  assert.equal(parse("").view, "experiments");
  assert.equal(parse("#/x/y").view, "experiments");
  assert.equal(parse("#/e/").view, "experiments");
  assert.equal(parse("#/e/digits").view, "overview");
  assert.equal(parse("#/e/digits/nothing").view, "overview");
  assert.equal(parse("#/e/digits/trial").view, "overview");
  assert.equal(parse("#/e/100%/trials").experiment, "100%");
});
