import assert from "node:assert/strict";
import { test } from "node:test";
import { addTexts } from "../../../src/overtone/ui/web/js/i18n.js";
import { zh } from "../../../src/overtone/ui/web/js/i18n/zh.js";
import { lang, table } from "../../../src/overtone/ui/web/js/state.js";
import { decisionText, verdictText } from "../../../src/overtone/ui/web/js/tables/decision_text.js";

const stopped = {
  kind: "ruled", decision: "stop", rule: "asha", rung: 3, value: 1.25, rank: 7, of: 13, cutoff: 1.05, source: null, note: null,
  text: "stopped by asha at rung 3: loss=1.25 is 7th of 13; the cutoff was 1.05",
};
const noted = { kind: "note", text: "looks odd" };

test("decisions are told in English as the server tells them", () => {
  lang.value = "en";
  assert.equal(decisionText(stopped), stopped.text);
  assert.equal(verdictText({ id: "a_1", verdict: `a_1 was ${stopped.text}.`, story: [stopped] }), `a_1 was ${stopped.text}.`);
});

test("decisions are told in Chinese by their fields, and others as they are", () => {
  addTexts("zh", zh);
  lang.value = "zh";
  table.value.goals = [["loss", "min"]];
  assert.equal(decisionText(stopped), "被 asha 停止（梯级 3）：loss=1.25，第 7 名，共 13 个，门槛为 1.05");
  assert.equal(verdictText({ id: "a_1", verdict: `a_1 was ${stopped.text}.`, story: [stopped] }), `a_1 ${decisionText(stopped)}。`);
  assert.equal(verdictText({ id: "a_1", verdict: "a_1 failed.", story: [stopped] }), "a_1 failed.");
  assert.equal(decisionText({ ...stopped, bracket: 2 }), "被 asha 停止（梯级 3）（第 2 组）：loss=1.25，第 7 名，共 13 个，门槛为 1.05");
  assert.equal(decisionText(noted), "looks odd");
  assert.equal(decisionText({ kind: "ruled", decision: "stop", rule: "stop", note: "loss < 1", text: "x" }), "按停止条件停止：loss < 1");
  assert.equal(decisionText({ kind: "ruled", decision: "other", rule: "own", text: "other by own" }), "other by own");
  const exploit = { kind: "ruled", decision: "restart", rule: "pbt", source: "a_2", rank: 4, of: 4, value: 0.5, text: "x" };
  assert.equal(decisionText(exploit), "被 pbt 重新开始，状态取自 a_2：loss=0.5，第 4 名，共 4 个");
  lang.value = "en";
});
