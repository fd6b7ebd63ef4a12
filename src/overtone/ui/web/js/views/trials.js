/** All trials: filtered by an expression, sorted by any column, to be opened and compared. */

import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { count } from "../format.js";
import { t } from "../i18n.js";
import { experiment, filter, goalNow, link, overview, route, selected, setQuery, source, table } from "../state.js";
import { Button } from "../ui/button.js";
import { Empty } from "../ui/notes.js";
import { ColumnMenu } from "../tables/column_menu.js";
import { ExactValues } from "../tables/exact_values.js";
import { FilterField } from "../tables/filter_field.js";
import { Grid } from "../tables/grid.js";
import { RowOrder } from "../tables/row_order.js";
import { choicesOf, defaultKeys, keepKeys, keptKeys } from "../tables/shown_columns.js";
import { bestRows } from "../tables/trial_state.js";
import { SortMenu } from "../tables/sort_menu.js";
import { useNarrow } from "../tables/narrow.js";

/** The order holds still for so long after the reader moved in the rows. */
const HOLD_MS = 2500;

export function TrialsView() {
  const now = table.value;
  now.version.value;
  const exact = useMemo(() => new ExactValues(), [experiment.value]);
  const order = useMemo(() => new RowOrder(), [experiment.value]);
  const isNarrow = useNarrow();
  const touched = useRef(0);
  const [, redraw] = useState(0);
  const [kept, setKept] = useState(() => keptKeys(experiment.value));
  const choices = choicesOf(now);
  const shownKeys = kept ?? defaultKeys(choices);
  const shown = choices.filter(({ key }) => shownKeys.includes(key)).sort(byPlace(shownKeys));
  const [sorting, setSorting] = useState(() => sortingOf(route.value.query.sort));
  exact.version.value;

  const moment = { now: performance.now(), isHeld: performance.now() - touched.current < HOLD_MS };
  const { isAsked, isLate } = order.follow(now, sorting, filter.value, moment);
  useEffect(() => {
    if (!isLate) return undefined;
    const timer = setTimeout(() => redraw((n) => n + 1), 500);
    return () => clearTimeout(timer);
  });

  /** @param {string} key */
  function sort(key) {
    const isSame = sorting.key === key;
    const next = { key, isDescending: isSame ? !sorting.isDescending : isBetterHigh(key) };
    setSorting(next);
    setQuery({ sort: `${next.isDescending ? "-" : ""}${key}` });
  }

  /** @param {string[] | null} keys */
  function show(keys) {
    setKept(keys);
    keepKeys(experiment.value, keys);
  }

  if (now.length === 0) return html`<h1>${t("tables.trials")}</h1><${Empty} title=${t("tables.no_trials")}><p>${t("tables.no_trials_yet")}</p></>`;
  return html`<header class="view-head">
      <div class="view-title"><h1>${t("tables.trials")}</h1>
      <p class="faint" role="status">${filter.value.mask === null
        ? t("tables.all_trials", { n: now.length })
        : t("tables.some_trials", { n: filter.value.count, all: now.length })}</p></div>
      <div class="view-tools">
        ${isNarrow && html`<${SortMenu} choices=${choices} sorting=${sorting} onSort=${sort} />`}
        <${ColumnMenu} choices=${choices} shown=${shownKeys} isDefault=${kept === null} onShow=${show} />
        ${selected.value.size > 0 && html`<${Button} kind="quiet" label=${t("tables.choose_none")} onClick=${() => (selected.value = new Set())} />`}
        <${Button} kind=${selected.value.size > 1 ? "primary" : "plain"} href=${selected.value.size > 1 ? compareLink() : undefined}
          isDisabled=${selected.value.size < 2} title=${t("tables.compare_how")} label=${t("tables.compare_chosen", { count: count(selected.value.size) })} />
      </div>
    </header>
    <${FilterField} />
    ${order.rows.length === 0
      ? html`<${Empty} title=${t("tables.none_match")}><p>${t("tables.none_match_how")}</p></>`
      : html`<${Grid} table=${now} order=${order.rows} isAsked=${isAsked} choices=${shown} sorting=${sorting} onSort=${sort}
          isNarrow=${isNarrow} exact=${exact} best=${bestRows(overview.value)} onTouch=${() => (touched.current = performance.now())}
          onRows=${(/** @type {number[]} */ rows) => source.value && exact.want(source.value, experiment.value, now, rows, shownKeys)} />`}`;
}

function compareLink() {
  const ids = [...selected.value].map((row) => table.value.ids[row]);
  return link("compare", "", { trials: ids.map(encodeURIComponent).join(",") });
}

/** @param {string[]} keys */
function byPlace(keys) {
  return (/** @type {{key: string}} */ a, /** @type {{key: string}} */ b) => keys.indexOf(a.key) - keys.indexOf(b.key);
}

/** @param {string | undefined} text such as "-metric:loss" */
function sortingOf(text) {
  if (text !== undefined) return { key: text.replace(/^-/u, ""), isDescending: text.startsWith("-") };
  const goal = goalNow();
  return { key: goal === null ? "" : `metric:${goal[0]}`, isDescending: goal?.[1] === "max" };
}

/** @param {string} key */
function isBetterHigh(key) {
  const mode = table.value.goals.find(([metric]) => key === `metric:${metric}` || key.startsWith(`metric:${metric}:`))?.[1];
  return mode === "max" || ["fact:n_results", "fact:duration", "fact:started", "fact:ended", "fact:rung"].includes(key);
}
