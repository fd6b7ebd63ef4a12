import assert from "node:assert/strict";
import { test } from "node:test";
import { addTexts } from "../../../src/overtone/ui/web/js/i18n.js";
import { zh } from "../../../src/overtone/ui/web/js/i18n/zh.js";
import { lang, table } from "../../../src/overtone/ui/web/js/state.js";
import { decisionText, phrase, verdictText } from "../../../src/overtone/ui/web/js/tables/decision_text.js";

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
  assert.equal(verdictText({ id: "a_1", verdict: "a_1 failed.", story: [stopped] }), "a_1 失败。");
  assert.equal(decisionText({ ...stopped, bracket: 2 }), "被 asha 停止（梯级 3）（第 2 组）：loss=1.25，第 7 名，共 13 个，门槛为 1.05");
  assert.equal(decisionText(noted), "looks odd");
  assert.equal(decisionText({ kind: "ruled", decision: "stop", rule: "stop", note: "loss < 1", text: "x" }), "按停止条件停止：loss < 1");
  assert.equal(decisionText({ kind: "ruled", decision: "other", rule: "own", text: "other by own" }), "other by own");
  const exploit = { kind: "ruled", decision: "restart", rule: "pbt", source: "a_2", rank: 4, of: 4, value: 0.5, text: "x" };
  assert.equal(decisionText(exploit), "被 pbt 重新开始，状态取自 a_2：loss=0.5，第 4 名，共 4 个");
  lang.value = "en";
});

test("other sentences are told in Chinese by a catalogue, and parts of users as they are", () => {
  addTexts("zh", zh);
  lang.value = "zh";
  const waits = { kind: "waits", text: "waits to be started: the time budget of 60 s is spent" };
  assert.equal(decisionText(waits), "等待启动：60 秒的时间预算已用完");
  assert.equal(decisionText({ ...waits, kind: "note" }), waits.text);
  assert.equal(decisionText({ ...stopped, rank: null, cutoff: null, note: "reached max_t=27" }), "被 asha 停止（梯级 3）：loss=1.25，已达到 max_t=27");
  assert.equal(phrase("Ann asked it to pause: reached max_t=3; it waits to be resumed"), "Ann 请求暂停它：reached max_t=3；等待恢复");
  assert.equal(phrase("started (attempt 2): process 7 on host, from the checkpoint of iteration 3"), "第 2 次尝试：进程 7，位于 host，从第 3 次迭代的检查点继续");
  assert.equal(phrase("looks $1 %1 odd"), "looks $1 %1 odd");
  assert.equal(phrase("failed: ValueError('$1 %1')"), "失败：ValueError('$1 %1')");
  assert.equal(verdictText({ id: "a_1", verdict: "a_1 ended by itself: its function returned.", story: [] }), "a_1 自行结束：函数已返回。");
  assert.equal(verdictText({ id: "a_1", verdict: "a_1 is running.", story: [] }), "a_1 正在运行。");
  lang.value = "en";
  assert.equal(phrase("is running"), "is running");
});
