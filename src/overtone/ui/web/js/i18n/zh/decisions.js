/** Words of decisions, which the server tells in English. @type {Record<string, string>} */
export const decisions = {
  stop: "停止",
  pause: "暂停",
  restart: "重新开始",
  save: "保存",
  continue: "换用其他配置继续",
  from: "，状态取自 {source}",
  by: "被 {rule} {decided}",
  at: "（梯级 {rung}）",
  in_bracket: "（第 {bracket} 组）",
  by_condition: "按停止条件停止",
  passed: "通过梯级 {rung}",
  is: "{metric}={value}",
  place: "第 {rank} 名，共 {of} 个",
  rank: "第 {rank} 名",
  cutoff: "门槛为 {cutoff}",
};
