/** When trials ran and where, and what it cost. */
import { html, useMemo } from "../html.js";
import { duration, took } from "../format.js";
import { t } from "../i18n.js";
import { FilterNote, metricNow } from "../plots/choices.js";
import { Legend } from "../plots/legend.js";
import { SceneFigure } from "../plots/scene_figure.js";
import { Timeline, timelineFacts } from "../plots/timeline.js";
import { LOOKS, stateText } from "../plots/trials.js";
import { PlotPage } from "../plots/page.js";
import { overview, table } from "../state.js";
import { Figure } from "../ui/figure.js";
import { Empty } from "../ui/notes.js";

export function TimelineView() {
  const now = table.value;
  const version = now.version.value;
  const clock = overview.value?.state === "running" ? overview.value.clock : undefined;
  const facts = useMemo(() => timelineFacts(now, clock), [now, version, clock]);
  const { slots, limits, codes, started, end } = facts;
  const metric = metricNow();
  const options = useMemo(() => ({ metric }), [metric]);
  if (!slots.rows.length || !limits) {
    const title = t("plots.not_started");
    return html`<${PlotPage} view="timeline"><div class="panel"><${Figure} title=${t("plots.title_timeline")} summary=${title}><${Empty} title=${title} /></${Figure}></div></${PlotPage}>`;
  }
  const n = slots.rows.reduce((sum, rows) => sum + rows.length, 0);
  const summary = t("plots.timeline_summary", { n, slots: slots.rows.length, nodes: slots.nodes.length, time: duration(limits[1] - limits[0]) });
  const present = LOOKS.flatMap(({ role }, code) => (codes.includes(code) ? [{ label: stateText(code), role, kind: "area" }] : []));
  return html`<${PlotPage} view="timeline"><div class="panel">
    <${Figure} title=${t("plots.title_timeline")} summary=${summary} note=${t("plots.timeline_note")} table=${() => ({
      columns: [{ label: t("plots.trial"), key: "id" }, { label: t("plots.node"), key: "node" }, { label: t("plots.slot"), key: "slot", isNumber: true },
        { label: t("plots.started"), key: "from" }, { label: t("plots.duration"), key: "took" }, { label: t("plots.state"), key: "state" }],
      rows: slots.nodes.flatMap(({ node, first, n: lanes }) => slots.rows.slice(first, first + lanes).flatMap((rows, slot) => [...rows.subarray(0, 500)].map((row) => ({
        id: now.ids[row], node: facts.name(node), slot: slot + 1, from: duration(started[row]), took: took(end[row] - started[row]), state: stateText(codes[row]),
      })))).slice(0, 2000),
    })}>
      <p class="plot-says">${summary}</p><${FilterNote} /><${Legend} entries=${present} />
      <${Timeline} table=${now} facts=${facts} label=${summary} />
    </${Figure}></div>
    <div class="panel"><${SceneFigure} name="cost" options=${options} /></div>
  </${PlotPage}>`;
}
