/** The field for a filter expression: completes names, and says what is wrong and where. */

import { html, useEffect, useId, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { filter, route, setQuery, table } from "../state.js";
import { Button } from "../ui/button.js";
import { complete } from "./filter/complete.js";
import { FilterError } from "./filter/filter_error.js";
import { filterable } from "./filter/filter.js";
import { setFilter } from "./filter/live.js";
import { quoted } from "./filter/tokens.js";

const REST_MS = 600;
const EMPTY = { start: 0, end: 0, completions: /** @type {import("./filter/complete.js").Completion[]} */ ([]) };

/** @param {{label?: string}} props */
export function FilterField({ label = t("tables.filter") }) {
  const id = useId();
  const input = useRef(/** @type {any} */ (null));
  const [text, setText] = useState(() => route.value.query.filter ?? filter.value.text);
  const [error, setError] = useState(/** @type {FilterError | null} */ (null));
  const [offer, setOffer] = useState(EMPTY);
  const [at, setAt] = useState(-1);
  const own = useRef(filter.value.text);
  const [isResting, setResting] = useState(true);

  useEffect(() => apply(text), []);
  useEffect(() => {
    setResting(false); // a half-typed name is not an error yet
    const timer = setTimeout(() => setResting(true), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    if (filter.value.text === own.current) return; // another view wrote the filter
    own.current = filter.value.text;
    setText(filter.value.text);
    setError(null);
  }, [filter.value.text]);

  /** @param {string} next */
  function apply(next) {
    try {
      own.current = next;
      setFilter(next);
      setError(null);
      setQuery({ filter: next || null });
    } catch (problem) {
      if (!(problem instanceof FilterError)) throw problem;
      own.current = filter.value.text;
      setError(problem);
    }
  }

  /** @param {string} next @param {number} caret @param {boolean} isOffering */
  function write(next, caret, isOffering) {
    setText(next);
    apply(next);
    const found = isOffering ? complete(next, caret, filterable(table.value)) : EMPTY;
    setOffer(found);
    setAt(-1);
  }

  /** @param {number} i */
  function take(i) {
    const { start, end } = offer;
    const before = `${text.slice(0, start)}${offer.completions[i].text} `;
    fill(before + text.slice(end).trimStart(), before.length);
  }

  /** @param {string} next @param {number} caret */
  function fill(next, caret) {
    input.current.value = next; // at once: what is typed before the next frame goes behind it
    input.current.setSelectionRange(caret, caret);
    input.current.focus();
    write(next, caret, false);
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const n = offer.completions.length;
    const { key } = event;
    if (key === "Escape" && n > 0) setOffer(EMPTY);
    else if (key === "Escape" && text) write("", 0, false);
    else if (n > 0 && key === "ArrowDown") setAt((at + 1) % n);
    else if (n > 0 && key === "ArrowUp") setAt((at + n) % (n + 1) === n ? -1 : (at + n) % (n + 1));
    else if (n > 0 && key === "Enter" && at >= 0) take(at);
    else if (key === "Enter") setOffer(EMPTY);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {FilterError} problem */
  function correct({ start, end, nearest }) {
    fill(text.slice(0, start) + nearest + text.slice(end), start + nearest.length);
  }

  const isOpen = offer.completions.length > 0;
  return html`<div class="filter-field" role="search">
    <label class="hidden-text" for=${id}>${label}</label>
    <input id=${id} ref=${input} type="search" class="mono" value=${text} autocomplete="off" autocapitalize="off" spellcheck=${false}
      role="combobox" aria-expanded=${isOpen} aria-controls=${`${id}-list`} aria-autocomplete="list"
      aria-activedescendant=${at >= 0 ? `${id}-${at}` : undefined} aria-invalid=${error ? "true" : undefined}
      aria-describedby=${`${id}-error`} placeholder=${example()} maxlength="2000"
      onInput=${(/** @type {any} */ event) => write(event.target.value, event.target.selectionStart ?? 0, true)}
      onKeyDown=${onKey} onBlur=${() => setOffer(EMPTY)} />
    <ul id=${`${id}-list`} role="listbox" aria-label=${t("tables.completions")} class="completions" hidden=${!isOpen}>
      ${offer.completions.map((one, i) => html`<li key=${one.text} id=${`${id}-${i}`} role="option" aria-selected=${i === at}
        onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()} onClick=${() => take(i)}>
        <bdi class="mono cut">${one.label}</bdi><span class="faint small">${t(`tables.kind_${one.kind}`)}</span></li>`)}
    </ul>
    <div id=${`${id}-error`} class="filter-error" role="status">${error && isResting && !isOpen && html`<${Problem} text=${text} error=${error} onCorrect=${correct} />`}</div>
  </div>`;
}

/** Returns an expression about columns that are there. */
function example() {
  const { columns, goals } = table.value;
  const number = (/** @type {import("../data/table.js").Column | undefined} */ column) => (column === undefined || column.levels !== null ? NaN : Number(column.values[0].toPrecision(1)));
  const param = [...columns.values()].find((column) => column.group === "param" && Number.isFinite(number(column)));
  const metric = goals.map(([name]) => columns.get(`metric:${name}`)).find((column) => Number.isFinite(number(column)));
  const parts = [param, metric].flatMap((column) => (column === undefined ? [] : `${quoted(column.name)} < ${number(column)}`));
  return [...parts, "status == RUNNING"].join(" and ");
}

/** @param {{text: string, error: FilterError, onCorrect: (error: FilterError) => void}} props */
function Problem({ text, error, onCorrect }) {
  const { found } = error.values;
  const where = found === undefined || !error.key.startsWith("expected") ? "" : found === "" ? t("tables.filter_found_end") : t("tables.filter_found", { found });
  return html`<p class="field-error">${t(`tables.filter_${error.key}`, error.values)}${where}
      ${error.nearest && html` <${Button} small=${true} label=${t("tables.filter_nearest", { name: error.nearest })} onClick=${() => onCorrect(error)} />`}</p>
    <pre class="filter-place" aria-hidden="true">${text.slice(0, error.start)}<mark>${text.slice(error.start, error.end) || " "}</mark>${text.slice(Math.max(error.end, error.start))}</pre>`;
}
