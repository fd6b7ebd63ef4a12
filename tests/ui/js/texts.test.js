import assert from "node:assert/strict";
import { test } from "node:test";
import { fill, texts } from "../../../src/overtone/ui/web/js/i18n.js";
import { addReportTexts } from "../../../src/overtone/ui/web/js/i18n/report.js";
import "../../../src/overtone/ui/web/js/parts/guide.js";

addReportTexts();

for (const area of Object.keys(texts.value.en)) {
  test(`${area}: English and Chinese have the same keys and the same values in them`, () => {
    const [en, zh] = [texts.value.en[area], texts.value.zh[area]];
    assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
    for (const key of Object.keys(en)) {
      const names = (/** @type {string} */ text) => [...new Set([...text.matchAll(/\{(\w+)[|}]/g)].map(([, name]) => name))].sort();
      assert.deepEqual(names(zh[key]), names(en[key]), `${area}.${key}`);
      assert.ok(en[key].trim() && zh[key].trim(), `${area}.${key} is empty`);
    }
  });
}

test("one and many", () => {
  const text = "{n|1 trial runs|{n} trials run}, {name}";
  assert.equal(fill(text, { n: 1, name: "a" }), "1 trial runs, a");
  assert.equal(fill(text, { n: 12345, name: "{n}" }), "12,345 trials run, {n}");
});
