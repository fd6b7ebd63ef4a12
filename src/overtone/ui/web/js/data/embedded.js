/** A report's data: the answers that a server would give, asked when the report was written. */
import { SourceError } from "./source.js";
import { unpackJson, unpackMessage } from "./packed.js";

/**
 * @typedef {import("./source.js").Source} Source
 * @typedef {import("./table.js").Table} Table
 */

const NOTHING = { act: false, log: false, follow: false, compare: true, stack: false };

/**
 * @param {ParentNode} document Has the parts as `<script type="application/octet-stream" data-part="...">`.
 * @param {(key: string, values?: Record<string, any>) => string} say Words of a dictionary, for what is missing.
 * @returns {Source}
 */
export function embeddedSource(document, say) {
  /** @type {Map<string, Element>} */
  const parts = new Map();
  for (const element of document.querySelectorAll("script[data-part]")) {
    parts.set(/** @type {HTMLElement} */ (element).dataset.part ?? "", element);
  }
  /** @type {Map<string, Promise<any>>} */
  const read = new Map();

  /**
   * @param {string} name
   * @param {(text: string) => Promise<any>} unpack
   * @returns {Promise<any>}
   */
  async function part(name, unpack = unpackJson) {
    const element = parts.get(name);
    if (!element) throw missing("report.without");
    let answer = read.get(name);
    if (!answer) {
      answer = unpack(element.textContent ?? "");
      read.set(name, answer);
    }
    return answer;
  }

  /** @param {string} key @param {Record<string, any>} [values] */
  const missing = (key, values) => new SourceError(say(key, values), 404);
  const absent = () => Promise.reject(missing("report.without"));

  return {
    can: NOTHING,
    me: () => part("me"),
    login: async () => {},
    experiments: () => part("experiments"),
    overview: (exp) => part(`${exp}/overview`),
    columns: (exp) => part(`${exp}/columns`, unpackMessage),
    rows: async (exp, rows) => {
      const exact = await part(`${exp}/rows`);
      const places = rows.map((row) => exact.rows.indexOf(row)).filter((place) => place >= 0);
      const columns = Object.entries(exact.columns).map(([key, values]) => [key, places.map((place) => values[place])]);
      const chosen = (/** @type {any[]} */ values) => places.map((place) => values[place]);
      return { n: exact.n, rows: chosen(exact.rows), ids: chosen(exact.ids), columns: Object.fromEntries(columns) };
    },
    trial: async (exp, id) => {
      const trials = await part(`${exp}/trials`);
      if (!Object.hasOwn(trials, id)) throw missing("report.without_trial", { n: Object.keys(trials).length, trial: id });
      return trials[id];
    },
    curves: async (exp, ids, metric) => {
      const { trials, best } = (await part(`${exp}/curves`))[metric] ?? { trials: [], best: null };
      return { metric, best, trials: trials.filter((/** @type {any} */ one) => ids.includes(one.id)) };
    },
    log: absent,
    stack: absent,
    plot: async (exp, name, options = {}) => {
      const known = await part(`${exp}/plots`);
      const key = plotKey(name, options);
      if (!Object.hasOwn(known, key)) throw missing("report.without_plot");
      return part(`${exp}/plots/${known[key]}`, unpackMessage);
    },
    decisions: async (exp, { before = Infinity, limit = 100, trial } = {}) => {
      const all = (await part(`${exp}/decisions`)).decisions;
      const chosen = all.filter((/** @type {any} */ one) => one.n < before && (!trial || one.trial === trial));
      const page = chosen.slice(0, limit);
      return { decisions: page, before: chosen.length > page.length ? page[page.length - 1].n : null };
    },
    machines: (exp) => part(`${exp}/machines`),
    compare: () => part("compare"),
    act: absent,
    follow: (exp, _from, _journal, { onOverview, onState }) => {
      part(`${exp}/overview`).then((overview) => {
        onState("live");
        onOverview(overview);
      });
      return () => {};
    },
  };
}

/**
 * @param {string} name
 * @param {Record<string, any>} options
 * @returns {string} Such as 'contour?params=["lr","width"]': options in the order of their names.
 */
function plotKey(name, options) {
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const texts = given.map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [name, ...texts.sort()].join("?");
}
