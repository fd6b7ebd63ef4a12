import assert from "node:assert/strict";
import { test } from "node:test";
import { addTexts } from "../../../src/overtone/ui/web/js/i18n.js";
import { zh } from "../../../src/overtone/ui/web/js/i18n/zh.js";
import { sceneSays } from "../../../src/overtone/ui/web/js/plots/scene_text.js";
import { sceneInWords } from "../../../src/overtone/ui/web/js/plots/scene_words.js";
import { lang } from "../../../src/overtone/ui/web/js/state.js";

/** @param {string} title @param {string[]} categories @param {number[]} end @returns {any} */
function counts(title, categories, end) {
  const at = Float64Array.from(end.keys());
  return { title, x: { title: "rung", categories }, y: { title: "trials" }, marks: [{ type: "Bars", at, start: at.map(() => 0), end: Float64Array.from(end), label: "" }] };
}

/** @param {any[]} panels @returns {any} */
const scene = (...panels) => ({ title: "Rungs", note: "", empty: "", panels: [...panels, { title: "Values", x: { title: "" }, y: { title: "" }, marks: [{ type: "Line", x: [], y: [], label: "" }] }] });

test("a sentence says how many trials reached each rung", () => {
  const one = scene(counts("Trials that reached each rung", ["1", "3"], [9, 3]));
  assert.equal(sceneSays("rungs", one), "Trials that reached each rung: 9 at rung 1, 3 at rung 3.");
});

test("several brackets have a sentence each", () => {
  const title = (/** @type {number} */ n) => `Trials of bracket ${n} that reached each rung`;
  const several = scene(counts(title(1), ["1", "3"], [9, 3]), counts(title(12), ["3"], [5]));
  assert.equal(sceneSays("rungs", several), `${title(1)}: 9 at rung 1, 3 at rung 3. ${title(12)}: 5 at rung 3.`);
  addTexts("zh", zh);
  lang.value = "zh";
  assert.equal(sceneSays("rungs", sceneInWords(several)), "第 1 组中到达各梯级的试验：梯级 1 有 9 个, 梯级 3 有 3 个。 第 12 组中到达各梯级的试验：梯级 3 有 5 个。");
  lang.value = "en";
});
