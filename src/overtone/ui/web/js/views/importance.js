/** Which hyperparameter matters. */
import { html, useMemo } from "../html.js";
import { t } from "../i18n.js";
import { Choice, GoalChoice, metricNow } from "../plots/choices.js";
import { SceneFigure } from "../plots/scene_figure.js";
import { sceneSays } from "../plots/scene_text.js";
import { PlotPage } from "../plots/page.js";
import { go, route, setQuery, table } from "../state.js";

const QUANTILES = ["0.05", "0.1", "0.25", "0.5"];

export function ImportanceView() {
  const metric = metricNow();
  const quantile = QUANTILES.includes(route.value.query.quantile) ? route.value.query.quantile : "0.1";
  const options = useMemo(() => ({ metric, quantile: quantile === "0.1" ? undefined : quantile }), [metric, quantile]);
  const choice = html`<${GoalChoice} /><${Choice} label=${t("plots.best_share")} value=${quantile}
    options=${QUANTILES.map((one) => [one, `${Number(one) * 100} %`])} onChange=${(/** @type {string} */ value) => setQuery({ quantile: value })} />`;
  return html`<${PlotPage} view="importance"><div class="panel"><${SceneFigure} name="param_importances" options=${options} controls=${choice}
    says=${(/** @type {any} */ scene) => html`<p class="plot-lead">${sceneSays("param_importances", scene)}</p>
      <p class="plot-says faint">${t("plots.importance_hint", { share: `${Number(quantile) * 100} %` })}</p>`}
    empty=${t("plots.no_importance")}
    onPick=${(/** @type {import("../plots/chart.js").Spot} */ { lines }) => openSlice(lines()[0])} /></div></${PlotPage}>`;
}

/** @param {string} name */
function openSlice(name) {
  if (table.value.column(`param:${name}`)) go("relations", "", { plot: "slice", x: name });
}
