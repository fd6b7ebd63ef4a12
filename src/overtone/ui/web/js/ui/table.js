/** A small accessible table. Thousands of rows belong into the virtual table of the trials. */
import { html, useState } from "../html.js";
import { t } from "../i18n.js";

const MOST_ROWS = 500;

/**
 * @typedef {{label: any, key?: string, isNumber?: boolean, title?: string, look?: string,
 *   cell?: (row: any, index: number) => any, sortBy?: (row: any) => any}} TableColumn
 */

/**
 * @param {{caption: string, columns: TableColumn[], rows: any[], rowKey?: (row: any, index: number) => any,
 *   rowClass?: (row: any) => string, isCaptionShown?: boolean, empty?: any, most?: number}} props A cell is
 *   `cell(row)` or `row[key]`; `look` is a class of the
 *   column's cells. Columns with `sortBy` can be sorted by.
 */
export function DataTable(props) {
  const { caption, columns, rows, rowKey, rowClass, isCaptionShown = false, empty, most = MOST_ROWS } = props;
  const [order, setOrder] = useState(/** @type {{by: number, isDown: boolean} | null} */ (null));
  if (!rows.length && empty) return empty;
  const shown = sorted(rows, columns, order).slice(0, most);
  /** @param {number} i */
  const sort = (i) => setOrder(order?.by === i ? { by: i, isDown: !order.isDown } : { by: i, isDown: false });
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${caption}>
    <table class="table">
      <caption class=${isCaptionShown ? "" : "hidden-text"}>${caption}</caption>
      <thead><tr>${columns.map((column, i) => html`
        <th scope="col" class=${lookOf(column)} title=${column.title}
          aria-sort=${order?.by === i ? (order.isDown ? "descending" : "ascending") : undefined}>
          ${column.sortBy
            ? html`<button type="button" class="sort" onClick=${() => sort(i)}>${column.label}<span aria-hidden="true">${
              order?.by === i ? (order.isDown ? " ↓" : " ↑") : ""}</span></button>`
            : column.label}</th>`)}</tr></thead>
      <tbody>${shown.map((row, i) => html`
        <tr key=${rowKey ? rowKey(row, i) : i} class=${rowClass?.(row)}>${columns.map((column) => html`
          <td class=${lookOf(column)}>${column.cell ? column.cell(row, i) : row[column.key ?? ""]}</td>`)}</tr>`)}
      </tbody>
    </table>
    ${rows.length > shown.length && html`<p class="faint">${t("shell.table_cut", { shown: shown.length, all: rows.length })}</p>`}
  </div>`;
}

/** @param {TableColumn} column */
function lookOf({ isNumber, look = "" }) {
  return isNumber ? `is-number ${look}` : look || undefined;
}

/**
 * @param {any[]} rows
 * @param {TableColumn[]} columns
 * @param {{by: number, isDown: boolean} | null} order
 */
function sorted(rows, columns, order) {
  const by = order && columns[order.by]?.sortBy;
  if (!order || !by) return rows;
  const sign = order.isDown ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [by(a), by(b)];
    if (x === y) return 0;
    if (x === null || x === undefined || Number.isNaN(x)) return 1; // what is missing stands last
    if (y === null || y === undefined || Number.isNaN(y)) return -1;
    return (x < y ? -1 : 1) * sign;
  });
}
