/** Chooses what cards are sorted by: they have no column headers. */

import { html } from "../html.js";
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";

/**
 * @param {{choices: import("./shown_columns.js").Choice[], sorting: import("./row_order.js").Sorting,
 *   onSort: (key: string) => void}} props
 */
export function SortMenu({ choices, sorting, onSort }) {
  return html`<label class="choice">${t("tables.sort_by")}
    <select value=${sorting.key} onChange=${(/** @type {any} */ event) => onSort(event.target.value)}>
      <option value="">${t("tables.sort_created")}</option>
      ${choices.map(({ key, label }) => html`<option key=${key} value=${key}>${label}</option>`)}
    </select></label>
    <${Button} label=${sorting.isDescending ? "↓" : "↑"} name=${t("tables.sort_turn")} onClick=${() => onSort(sorting.key)} />`;
}
