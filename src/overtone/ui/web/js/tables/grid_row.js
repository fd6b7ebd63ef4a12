/** The row of one trial in the table: its cells, or a card where the window is narrow. */

import { html } from "../html.js";
import { duration, took } from "../format.js";
import { t } from "../i18n.js";
import { clockNow, go, hovered, link, MOST_SELECTED, selected, toggleSelected } from "../state.js";
import { Badge } from "../ui/badge.js";
import { shownValue, valueAt } from "./shown_columns.js";
import { secondsOf, stateOf } from "./trial_state.js";

/** @typedef {import("../data/table.js").Table} Table */
/** @typedef {import("./shown_columns.js").Choice} Choice */
/** @typedef {import("./exact_values.js").ExactValues} ExactValues */

/** @typedef {{table: Table, choices: Choice[], row: number, exact: ExactValues, best: Set<number>}} RowProps */

/**
 * @param {RowProps & {isNarrow: boolean, position: number, top: number, height: number, template: string,
 *   activeColumn: number, activeId: string}} props
 */
export function Row(props) {
  const { table, row, isNarrow, position, top, height, template, activeColumn, activeId } = props;
  const isActive = activeColumn >= 0;
  return html`<div role="row" class=${`grid-row${isActive ? " is-active" : ""}`}
    aria-rowindex=${position + 2} aria-selected=${selected.value.has(row)}
    style=${{ top: `${top}px`, height: `${height}px`, gridTemplateColumns: isNarrow ? "" : template }}
    onClick=${(/** @type {MouseEvent} */ event) => openRow(event, table.ids[row])}
    onPointerEnter=${() => (hovered.value = row)}>
    ${isNarrow ? html`<${Card} ...${props} activeId=${isActive ? activeId : undefined} />` : cells(props)}
  </div>`;
}

/**
 * @param {MouseEvent} event
 * @param {string} trial
 */
function openRow(event, trial) {
  const target = /** @type {HTMLElement} */ (event.target);
  const isOther = target.closest("a, input, label") !== null || getSelection()?.toString() !== "";
  if (!isOther && !event.ctrlKey && !event.metaKey) go("trial", trial);
}

/** @param {RowProps & {activeColumn: number, activeId: string}} props */
function cells({ table, choices, row, exact, best, activeColumn, activeId }) {
  return html`<div role="gridcell" aria-colindex="1" class=${`grid-cell grid-first${activeColumn === 0 ? " is-active" : ""}`}
      id=${activeColumn === 0 ? activeId : undefined}>
      <${Chosen} table=${table} row=${row} /><${TrialLink} table=${table} row=${row} />
      <${Badge} state=${stateOf(table, row)} /></div>
    ${choices.map(({ key, isNumber, group }, i) => {
      const shown = cellText(table, key, row, exact);
      const isBest = group === "result" && best.has(row);
      const isActive = activeColumn === i + 1;
      return html`<div role="gridcell" key=${key} aria-colindex=${i + 2} title=${shown.length > 10 ? shown : undefined}
        class=${`grid-cell${isNumber ? " is-number" : ""}${isBest ? " is-best" : ""}${isActive ? " is-active" : ""}`}
        id=${isActive ? activeId : undefined}>${shown}${isBest && html`<${BestMark} />`}</div>`;
    })}`;
}

/** @param {RowProps & {activeId?: string}} props */
function Card({ table, choices, row, exact, best, activeId }) {
  const result = choices.find(({ group }) => group === "result");
  const isParam = (/** @type {Choice} */ { group }) => Number(group === "param");
  const others = choices.filter(({ group }) => group !== "result").sort((a, b) => isParam(b) - isParam(a));
  const shown = others.map(({ key, label }) => `${label} ${cellText(table, key, row, exact)}`).join(" · ");
  return html`<div role="gridcell" aria-colindex="1" class="grid-card" id=${activeId}>
    <${Chosen} table=${table} row=${row} />
    <div class="grid-card-text">
      <div class="grid-card-line"><${TrialLink} table=${table} row=${row} /><${Badge} state=${stateOf(table, row)} />
        ${result && html`<span class="grid-card-value">${cellText(table, result.key, row, exact)}${best.has(row) && html`<${BestMark} />`}</span>`}</div>
      <div class="faint small cut">${shown}</div>
    </div>
  </div>`;
}

function BestMark() {
  return html` <span class="best-mark" title=${t("tables.best")}><span aria-hidden="true">★</span><span class="hidden-text">${t("tables.best")}</span></span>`;
}

/** @param {{table: Table, row: number}} props */
function Chosen({ table, row }) {
  const isChosen = selected.value.has(row);
  const isFull = !isChosen && selected.value.size >= MOST_SELECTED;
  return html`<label class="grid-choice" title=${isFull ? t("tables.compare_full", { most: MOST_SELECTED }) : t("tables.choose")}>
    <input type="checkbox" tabindex="-1" checked=${isChosen} disabled=${isFull} onChange=${(/** @type {any} */ event) => {
        toggleSelected(row);
        event.target.closest(".grid").focus({ preventScroll: true }); // the element may show another trial soon
      }}
      aria-label=${t("tables.choose_trial", { trial: table.ids[row] })} /></label>`;
}

/** @param {{table: Table, row: number}} props */
function TrialLink({ table, row }) {
  const id = table.ids[row];
  return html`<a class="cut trial-link" tabindex="-1" href=${link("trial", id)} title=${id}><bdi>${id}</bdi></a>`;
}

/**
 * @param {Table} table
 * @param {string} key
 * @param {number} row
 * @param {ExactValues} exact
 * @returns {string}
 */
function cellText(table, key, row, exact) {
  if (key === "fact:duration") return took(secondsOf(table, row, clockNow())) || "–";
  const column = table.columns.get(key);
  if (column === undefined) return "";
  const rounded = valueAt(column, table, row);
  if (key === "fact:started" || key === "fact:ended") return duration(rounded) || "–";
  return shownValue(exact.value(column, row, rounded), column);
}
