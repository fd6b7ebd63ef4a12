/** The table of all trials: only the rows in view are elements, whether there are ten or 100,000. */

import { html, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { onFrame } from "../frame.js";
import { t } from "../i18n.js";
import { go, hovered, overview, selected, toggleSelected } from "../state.js";
import { DrawnRows } from "./drawn_rows.js";
import { Row } from "./grid_row.js";
import { anchoredTop, drawnRange, movedPosition, revealingTop } from "./virtual_rows.js";

/** @typedef {import("../data/table.js").Table} Table */
/** @typedef {import("./shown_columns.js").Choice} Choice */
/** @typedef {import("./row_order.js").Sorting} Sorting */

const ROW_HEIGHT = 32;
const CARD_HEIGHT = 64;
const HEAD_HEIGHT = 36;
const FIRST_WIDTH = 268;

/**
 * @typedef {{table: Table, order: Uint32Array, isAsked: boolean, choices: Choice[], sorting: Sorting,
 *   onSort: (key: string) => void, onTouch: () => void, isNarrow: boolean,
 *   onRows: (rows: number[]) => void, exact: import("./exact_values.js").ExactValues,
 *   best: Set<number>}} GridProps `isAsked` is true if the reader asked for this order; `best` are rows
 */

/** @param {GridProps} props */
export function Grid(props) {
  const { table, order, choices, isNarrow, exact, best, onTouch } = props;
  const id = useId();
  const scroller = useRef(/** @type {any} */ (null));
  const [view, setView] = useState({ top: 0, height: 600 });
  const [active, setActive] = useState({ row: -1, column: 0 });
  const rowHeight = isNarrow ? CARD_HEIGHT : ROW_HEIGHT;
  const headHeight = isNarrow ? 0 : HEAD_HEIGHT;

  const measure = () => {
    if (!scroller.current) return;
    const { scrollTop, clientHeight } = scroller.current;
    setView({ top: scrollTop, height: clientHeight - headHeight });
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => onFrame(measure));
    observer.observe(scroller.current);
    measure();
    return () => observer.disconnect();
  }, [isNarrow]);
  const before = useRef(order);
  useLayoutEffect(() => {
    if (before.current === order) return;
    const { scrollTop } = scroller.current;
    scroller.current.scrollTop = props.isAsked ? 0 : anchoredTop(before.current, order, scrollTop, rowHeight);
    before.current = order;
    measure();
  }, [order]);

  const { first, last } = drawnRange(view, rowHeight, order.length);
  const rows = Array.from(order.subarray(first, last));
  useEffect(() => props.onRows(rows));
  const position = active.row < 0 ? -1 : order.indexOf(active.row);
  const isActiveDrawn = position >= first && position < last;

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    onTouch();
    if (event.target !== scroller.current || order.length === 0) return;
    const { key } = event;
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const moved = movedPosition(key, event.ctrlKey || event.metaKey, position, order.length, page);
    if (moved !== null) {
      scroller.current.scrollTop = revealingTop(moved, { ...view, top: scroller.current.scrollTop }, rowHeight);
      setActive({ ...active, row: order[moved] });
      measure();
    } else if (key === "ArrowRight" || key === "ArrowLeft") {
      const column = Math.max(0, Math.min(active.column + (key === "ArrowRight" ? 1 : -1), choices.length));
      setActive({ row: active.row < 0 ? order[0] : active.row, column });
    } else if (key === "Enter" && position >= 0) go("trial", table.ids[active.row]);
    else if (key === " " && position >= 0) toggleSelected(active.row);
    else return;
    event.preventDefault();
  }

  useLayoutEffect(() => {
    if (!isNarrow) scroller.current.querySelector(".grid-cell.is-active")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [active.column]);

  const widths = [FIRST_WIDTH, ...choices.map(widthOf)];
  const template = widths.map((width) => `${width}px`).join(" ");
  const full = `max(100%, ${widths.reduce((a, b) => a + b, 0)}px)`;

  const subject = [table, table.version.value, exact.version.value, overview.value, [...best].join(), choices.map(({ key }) => key).join(), isNarrow];
  const drawn = useMemo(() => new DrawnRows(), []);
  /** @param {number} row */
  const activeColumnOf = (row) => (row === active.row ? active.column : -1);
  const elements = drawn.draw(subject, rows, first, last - first + 1,
    (row) => `${activeColumnOf(row)} ${selected.value.has(row)} ${selected.value.size}`,
    (row, at, key) => html`<${Row} key=${key} table=${table} choices=${choices} exact=${exact} best=${best} isNarrow=${isNarrow}
      row=${row} position=${at} top=${at * rowHeight} height=${rowHeight} template=${template} activeColumn=${activeColumnOf(row)} activeId=${`${id}-active`} />`);

  return html`<div ref=${scroller} class=${`grid${isNarrow ? " grid-narrow" : ""}`} role="grid" tabindex="0"
    aria-label=${t("tables.trials")} aria-rowcount=${order.length + 1} aria-colcount=${isNarrow ? 1 : choices.length + 1}
    aria-multiselectable="true" aria-activedescendant=${isActiveDrawn ? `${id}-active` : undefined}
    onScroll=${() => onFrame(measure)} onKeyDown=${onKey} onPointerMove=${onTouch}
    onPointerLeave=${() => (hovered.value = -1)}>
    <${Head} ...${props} template=${template} width=${full} />
    <div role="rowgroup" class="grid-body" style=${{ height: `${order.length * rowHeight}px`, minWidth: isNarrow ? "0" : full }}>
      ${elements}
    </div>
  </div>`;
}

/** @param {Choice} choice */
function widthOf({ label, isNumber, group }) {
  const [least, most] = group === "result" ? [152, 200] : isNumber ? [116, 200] : [112, 220];
  return Math.max(least, Math.min(label.length * 8 + 34, most));
}

/**
 * @param {{choices: Choice[], sorting: Sorting, onSort: (key: string) => void, template: string, width: string,
 *   isNarrow: boolean}} props
 */
function Head({ choices, sorting, onSort, template, width, isNarrow }) {
  const columns = [{ key: "", label: t("tables.trial"), isNumber: false }, ...choices];
  return html`<div role="rowgroup" class=${isNarrow ? "hidden-text" : "grid-head"} style=${isNarrow ? {} : { minWidth: width }}>
    <div role="row" aria-rowindex="1" class="grid-row" style=${{ gridTemplateColumns: template }}>
      ${(isNarrow ? columns.slice(0, 1) : columns).map(({ key, label, isNumber }, i) => {
        const isSorted = sorting.key === key;
        const direction = sorting.isDescending ? "descending" : "ascending";
        return html`<div role="columnheader" key=${key} aria-colindex=${i + 1} class=${`grid-cell${isNumber ? " is-number" : ""}`}
          aria-sort=${isSorted ? direction : undefined}>
          ${isNarrow ? label : html`<button type="button" class="sort" title=${label} onClick=${() => onSort(key)}>
            <span class="cut">${label}</span>${isSorted && html`<span aria-hidden="true">${sorting.isDescending ? "↓" : "↑"}</span>`}</button>`}
        </div>`;
      })}
    </div>
  </div>`;
}
