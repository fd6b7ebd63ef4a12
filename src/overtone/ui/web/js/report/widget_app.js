/** The frame of the notebook's widget: one line of state, tabs, and the view. */
import { html } from "../html.js";
import { hasDriver } from "../control/requests.js";
import { stateCounts } from "../data/counts.js";
import { waiting } from "../data/notebook.js";
import { number } from "../format.js";
import { t } from "../i18n.js";
import { connection, failure, isLoaded, link, overview, route, table } from "../state.js";
import { StateMark } from "../ui/badge.js";
import { ErrorNote, Spinner } from "../ui/notes.js";
import { views } from "../views/index.js";
import { progressText } from "../views/overview.js";

const TABS = ["overview", "history", "trials", "parallel", "importance", "timeline", "decisions"];

export function WidgetApp() {
  const { view, experiment, trial } = route.value;
  return html`<section class="widget-frame" aria-label=${t("report.widget_of", { name: experiment })}>
    <header class="widget-bar">
      <${State} name=${experiment} />
      <nav class="widget-tabs" aria-label=${t("shell.navigation")}>
        ${TABS.map((name) => html`<a key=${name} href=${link(name)}
          aria-current=${view === name || (name === "trials" && view === "trial") ? "page" : undefined}>${t(`shell.view_${name}`)}</a>`)}
      </nav>
    </header>
    <div class="widget-view"><${Content} key=${`${view} ${trial}`} /></div>
  </section>`;
}

/** @param {{name: string}} props */
function State({ name }) {
  const now = overview.value;
  if (!now) return html`<p class="widget-state"><b>${name}</b> ${t("report.starting")}</p>`;
  const counts = (table.value.version.value, stateCounts(table.value, hasDriver()));
  const { metric, best } = now.goals?.[0] ?? {};
  return html`<p class="widget-state">
    <${StateMark} state=${now.state} /><b>${now.name}</b><span>${progressText(now, counts)}</span>
    ${best && html`<span class="widget-best">${t("report.best_so_far", { metric, value: number(best.value) })}</span>`}
    ${connection.value === "lost" && html`<span role="status">${t("report.kernel_silent")}</span>`}
    ${connection.value !== "lost" && waiting.value > 0 && html`<span role="status">${t("report.kernel_busy")}</span>`}
  </p>`;
}

function Content() {
  const { view } = route.value;
  const View = views[view];
  if (failure.value) return html`<${ErrorNote} error=${failure.value} />`;
  if (!isLoaded.value) return html`<${Spinner} text=${t("report.starting")} />`;
  return html`<${View} key=${view} />`;
}
