/** Who came how far at the scheduler's rungs, and who went on from whom. */
import { html, useMemo } from "../html.js";
import { t } from "../i18n.js";
import { GoalChoice, metricNow } from "../plots/choices.js";
import { SceneFigure } from "../plots/scene_figure.js";
import { PlotPage } from "../plots/page.js";
import { overview } from "../state.js";

export function RungsView() {
  const metric = metricNow();
  const options = useMemo(() => ({ metric }), [metric]);
  const scheduler = overview.value?.scheduler?.name ?? overview.value?.scheduler;
  const why = typeof scheduler === "string" && scheduler ? scheduler : "";
  return html`<${PlotPage} view="rungs">
    <div class="panel"><${SceneFigure} name="rungs" options=${options} controls=${html`<${GoalChoice} />`}
      empty=${why ? t("plots.no_rungs_with", { scheduler: why }) : t("plots.no_rungs")} /></div>
    <div class="panel"><${SceneFigure} name="lineage" options=${options}
      empty=${why ? t("plots.no_lineage_with", { scheduler: why }) : t("plots.no_lineage")} /></div>
  </${PlotPage}>`;
}
