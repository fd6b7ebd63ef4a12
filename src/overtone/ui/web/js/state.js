/** What the page knows now: signals that views read and few functions set. */
import { batch, computed, signal } from "./html.js";
import { Table } from "./data/table.js";
import { format, parse } from "./router.js";

/**
 * @typedef {import("./html.js").Signal<any>} AnySignal
 * @typedef {import("./router.js").Route} Route
 * @typedef {{text: string, mask: Uint8Array | null, count: number}} Filter
 */

/** Most trials that are compared at once. */
export const MOST_SELECTED = 10;

/** @type {import("./html.js").Signal<Route>} */
export const route = signal(parse(typeof location === "undefined" ? "" : location.hash));
/** Where data come from. @type {import("./html.js").Signal<import("./data/source.js").Source | null>} */
export const source = signal(null);
/** The id of the experiment that is shown; "" in the list. @type {import("./html.js").Signal<string>} */
export const experiment = signal("");
/** The server's latest overview of the experiment. @type {import("./html.js").Signal<any>} */
export const overview = signal(null);
/** @type {import("./html.js").Signal<Table>} */
export const table = signal(new Table());
/** Whether the table's columns have arrived. @type {import("./html.js").Signal<boolean>} */
export const isLoaded = signal(false);
/** Why the experiment cannot be shown. @type {import("./html.js").Signal<Error | null>} */
export const failure = signal(null);
/** The objective that is shown, an index of `table.goals`. @type {import("./html.js").Signal<number>} */
export const goal = signal(0);
/** Rows that were chosen for comparison. @type {import("./html.js").Signal<Set<number>>} */
export const selected = signal(new Set());
/** The row under the pointer, or -1. @type {import("./html.js").Signal<number>} */
export const hovered = signal(-1);
/** @type {import("./html.js").Signal<Filter>} */
export const filter = signal({ text: "", mask: null, count: 0 });
/** @type {import("./html.js").Signal<"system" | "light" | "dark">} */
export const theme = signal(/** @type {any} */ (remembered("theme", ["system", "light", "dark"], "system")));
/** @type {import("./html.js").Signal<"en" | "zh">} */
export const lang = signal(/** @type {any} */ (remembered("lang", ["en", "zh"], languageOfBrowser())));
/** Whether single keys are shortcuts. */
export const hasKeys = signal(remembered("keys", ["on", "off"], "on") === "on");
/** Why the server cannot read the experiment now; "" if it can. @type {import("./html.js").Signal<string>} */
export const problem = signal("");
/** @type {import("./html.js").Signal<"connecting" | "live" | "polling" | "lost" | "over">} */
export const connection = signal(/** @type {any} */ ("connecting"));
/** When the connection was lost, in the browser's milliseconds; 0 if it is not. */
export const lostAt = signal(0);
/** What `/api/me` says; null before it has. @type {import("./html.js").Signal<any>} */
export const me = signal(null);
export const readOnly = computed(() => !!me.value?.read_only);
/** Whether a login is needed before anything can be shown. */
export const needsLogin = signal(false);
/** When the overview came, in the browser's milliseconds: durations go on from the server's own. */
export const overviewAt = signal(0);

const prefersDark = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : null;
const systemIsDark = signal(prefersDark?.matches ?? false);
prefersDark?.addEventListener("change", (event) => (systemIsDark.value = event.matches));
/** Whether the page is dark now: plots choose their colours by it. */
export const isDark = computed(() => (theme.value === "system" ? systemIsDark.value : theme.value === "dark"));

/** How the address is written; a notebook's page has an address of its own and replaces both. */
export const address = {
  /** @param {string} hash */
  open: (hash) => {
    location.hash = hash;
  },
  /** @param {string} hash */
  replace: (hash) => history.replaceState(null, "", hash),
};

/** Show another address instead of this one: "back" skips this one. @param {string} hash */
export function redirect(hash) {
  address.replace(hash);
  route.value = parse(hash);
}

/** @returns {[metric: string, mode: string] | null} The objective that is shown. */
export function goalNow() {
  const { goals } = table.value;
  return goals[goal.value] ?? goals[0] ?? null;
}

/**
 * Return the seconds that the experiment has run: the server's clock, continued by the browser's while the
 * connection lives. The two clocks may differ, so no moment of one is subtracted from one of the other.
 *
 * @param {number} [now] Of `performance.now()`.
 * @returns {number}
 */
export function clockNow(now = performance.now()) {
  const clock = overview.value?.now?.clock ?? overview.value?.duration_s ?? NaN;
  const isRunning = connection.value === "live" || connection.value === "polling";
  return isRunning ? clock + Math.max(now - overviewAt.value, 0) / 1000 : clock;
}

/**
 * The address of a view of the experiment that is shown.
 *
 * @param {string} view
 * @param {string} [trial]
 * @param {Record<string, string>} [query]
 */
export function link(view, trial = "", query = {}) {
  if (view === "experiments") return "#/";
  return format({ view, experiment: route.value.experiment || experiment.value, trial, query });
}

/**
 * Show a view of the experiment.
 *
 * @param {string} view
 * @param {string} [trial]
 * @param {Record<string, string>} [query]
 */
export function go(view, trial = "", query = {}) {
  address.open(link(view, trial, query));
}

/**
 * Change the query of the address without a new step in the history.
 *
 * @param {Record<string, string | null>} changes null takes a key away.
 */
export function setQuery(changes) {
  const query = { ...route.value.query };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete query[key];
    else query[key] = value;
  }
  route.value = { ...route.value, query };
  address.replace(format(route.value));
}

/**
 * Choose a row for comparison, or no longer.
 *
 * @param {number} row
 * @returns {boolean} Whether it is chosen now; false also if as many as possible are chosen.
 */
export function toggleSelected(row) {
  const rows = new Set(selected.value);
  if (!rows.delete(row) && rows.size < MOST_SELECTED) rows.add(row);
  selected.value = rows;
  return rows.has(row);
}

/** Forget everything that belongs to one experiment. */
export function clearExperiment() {
  batch(() => {
    overview.value = null;
    table.value = new Table();
    isLoaded.value = false;
    failure.value = null;
    goal.value = 0;
    selected.value = new Set();
    hovered.value = -1;
    filter.value = { text: "", mask: null, count: 0 };
    connection.value = "connecting";
    lostAt.value = 0;
    problem.value = "";
  });
}

/** @param {"system" | "light" | "dark"} value */
export function setTheme(value) {
  theme.value = value;
  remember("theme", value);
}

/** @param {"en" | "zh"} value */
export function setLang(value) {
  lang.value = value;
  remember("lang", value);
}

/** @param {boolean} isOn */
export function setKeys(isOn) {
  hasKeys.value = isOn;
  remember("keys", isOn ? "on" : "off");
}

/**
 * @param {string} key
 * @param {string[]} allowed
 * @param {string} otherwise
 */
function remembered(key, allowed, otherwise) {
  try {
    const value = localStorage.getItem(`overtone.${key}`);
    return value !== null && allowed.includes(value) ? value : otherwise;
  } catch {
    return otherwise; // storage is off, or there is no browser
  }
}

/** @param {string} key @param {string} value */
function remember(key, value) {
  try {
    localStorage.setItem(`overtone.${key}`, value);
  } catch {
    // storage is off: the choice holds for this page
  }
}

function languageOfBrowser() {
  return typeof navigator !== "undefined" && /^zh\b/i.test(navigator.language ?? "") ? "zh" : "en";
}
