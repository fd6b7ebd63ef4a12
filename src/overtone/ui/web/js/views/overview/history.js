/** The history in small. */
import { html } from "../../html.js";
import { HistoryPlot } from "../../plots/history.js";
import { t } from "../../i18n.js";
import { goal, link, table } from "../../state.js";

export function HistoryPanel() {
  return html`<section class="panel history-panel"><${HistoryPlot} table=${table.value} goal=${goal.value} height=${260} compact=${true}
    controls=${html`<a href=${link("history")}>${t("shell.open_large")}</a>`} /></section>`;
}
