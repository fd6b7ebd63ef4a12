/** Up to ten trials side by side, or several experiments. */

import { html } from "../html.js";
import { t } from "../i18n.js";
import { link, route, source } from "../state.js";
import { CompareExperiments } from "../tables/compare_experiments.js";
import { CompareTrials } from "../tables/compare_trials.js";

export function CompareView() {
  const { query } = route.value;
  const isExperiments = query.experiments !== undefined;
  const tabs = [
    { name: "trials", href: link("compare", "", query.trials ? { trials: query.trials } : {}), isHere: !isExperiments },
    { name: "experiments", href: link("compare", "", { experiments: query.experiments ?? "" }), isHere: isExperiments },
  ];
  return html`<header class="view-head"><h1>${t("tables.compare")}</h1>
      ${source.value?.can.compare && html`<nav class="tabs" aria-label=${t("tables.compare")}>${tabs.map(({ name, href, isHere }) => html`
        <a key=${name} href=${href} aria-current=${isHere ? "page" : undefined}>${t(`tables.${name}`)}</a>`)}</nav>`}</header>
    ${isExperiments ? html`<${CompareExperiments} />` : html`<${CompareTrials} />`}`;
}
