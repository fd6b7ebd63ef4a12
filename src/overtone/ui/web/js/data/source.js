/**
 * Where the page's data come from: a server here, a report's own document or a notebook's kernel elsewhere.
 *
 * @typedef {import("./message.js").Message} Message
 * @typedef {{act: boolean, log: boolean, follow: boolean, compare: boolean, stack: boolean,
 *   [more: string]: boolean}} Can
 * @typedef {{
 *   onRows: (message: Message) => void,
 *   onOverview: (overview: any) => void,
 *   onReload: () => void,
 *   onProblem: (text: string) => void,
 *   onState: (state: "live" | "lost" | "login", error?: Error) => void,
 * }} Handlers
 * @typedef {{
 *   can: Can,
 *   me: () => Promise<any>,
 *   login: (token: string) => Promise<void>,
 *   experiments: () => Promise<any>,
 *   overview: (exp: string) => Promise<any>,
 *   columns: (exp: string) => Promise<Message>,
 *   reading?: (exp: string) => Promise<{n_bytes: number, of_bytes: number}>,
 *   rows: (exp: string, rows: number[]) => Promise<any>,
 *   trial: (exp: string, id: string) => Promise<any>,
 *   curves: (exp: string, ids: string[], metric: string, points?: number) => Promise<any>,
 *   log: (exp: string, id: string, at?: {before?: string | number, after?: string | number}) => Promise<any>,
 *   stack: (exp: string, id: string) => Promise<any>,
 *   plot: (exp: string, name: string, options?: Record<string, any>) => Promise<Message>,
 *   decisions: (exp: string, at?: {before?: number, limit?: number, trial?: string}) => Promise<any>,
 *   machines: (exp: string) => Promise<any>,
 *   compare: (exps: string[]) => Promise<any>,
 *   act: (exp: string, verb: string, trial: string, args: Record<string, any>, id: string) => Promise<any>,
 *   follow: (exp: string, from: number, journal: string, handlers: Handlers) => () => void,
 * }} Source
 */
import { signal } from "../html.js";
import { decode } from "./message.js";
import { followStream } from "./stream.js";

/** An answer of the server that is not what was asked for. `text` is its own sentence. */
export class SourceError extends Error {
  /**
   * @param {string} text
   * @param {number} status The HTTP status; 0 if the server was not reached.
   * @param {any} [body]
   */
  constructor(text, status, body = null) {
    super(text);
    this.name = "SourceError";
    this.status = status;
    this.body = body;
  }
}

/** @type {Can} */
const NOTHING = { act: false, log: false, follow: false, compare: false, stack: false };

/**
 * @param {string} base The address before "/api", without a slash at its end.
 * @param {typeof fetch} [send]
 * @returns {Source}
 */
export function httpSource(base, send = (...given) => fetch(...given)) {
  const can = signal(/** @type {Can} */ ({ ...NOTHING, log: true, follow: true, compare: true }));

  /** @param {string} path @param {RequestInit} [init] */
  async function request(path, init = {}) {
    let response;
    try {
      response = await send(`${base}/api/${path}`, { credentials: "same-origin", ...init });
    } catch (error) {
      throw new SourceError(String(/** @type {Error} */ (error).message ?? error), 0);
    }
    if (response.ok) return response;
    const body = await response.json().catch(() => null);
    throw new SourceError(body?.error ?? body?.detail ?? `${response.status} ${response.statusText}`, response.status, body);
  }
  /** @param {string} path */
  const json = async (path) => (await request(path)).json();
  /** @param {string} path */
  const binary = async (path) => decode(await (await request(path)).arrayBuffer());
  /** @param {string} path @param {any} body */
  const post = (path, body) =>
    request(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

  return {
    get can() {
      return can.value;
    },
    me: async () => {
      const answer = await json("me");
      can.value = { ...NOTHING, ...answer.can };
      return answer;
    },
    login: async (token) => void (await post("login", { token })),
    experiments: () => json("experiments"),
    overview: (exp) => json(`${place(exp)}/overview`),
    columns: (exp) => binary(`${place(exp)}/columns`),
    reading: (exp) => json(`${place(exp)}/reading`),
    rows: (exp, rows) => json(`${place(exp)}/rows?rows=${ranges(rows)}`),
    trial: (exp, id) => json(`${place(exp)}/trials/${encodeURIComponent(id)}`),
    curves: (exp, ids, metric, points = 500) =>
      json(`${place(exp)}/curves?${query({ trials: ids.join(","), metric, points })}`),
    log: (exp, id, at = {}) => json(`${place(exp)}/trials/${encodeURIComponent(id)}/log?${query(at)}`),
    stack: (exp, id) => json(`${place(exp)}/trials/${encodeURIComponent(id)}/stack`),
    plot: (exp, name, options = {}) => binary(`${place(exp)}/plots/${encodeURIComponent(name)}?${query(options)}`),
    decisions: (exp, at = {}) => json(`${place(exp)}/decisions?${query(at)}`),
    machines: (exp) => json(`${place(exp)}/machines`),
    compare: (exps) => json(`compare?${query({ experiments: exps.join(",") })}`),
    act: async (exp, verb, trial, args, id) => (await post(`${place(exp)}/actions`, { verb, trial, args, id })).json(),
    follow: (exp, from, journal, handlers) =>
      followStream(`${base}/api/${place(exp)}/stream?${query({ journal })}`, from, handlers, send),
  };
}

/** @param {string} exp */
function place(exp) {
  return `experiments/${encodeURIComponent(exp)}`;
}

/** @param {Record<string, any>} values Those that are undefined or null are left out. */
function query(values) {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
}

/**
 * @param {number[]} rows
 * @returns {string} Such as "0-40,57".
 */
export function ranges(rows) {
  const parts = [];
  const sorted = [...rows].sort((a, b) => a - b);
  for (let i = 0; i < sorted.length; ) {
    let last = i;
    while (last + 1 < sorted.length && sorted[last + 1] <= sorted[last] + 1) last++;
    parts.push(sorted[i] === sorted[last] ? `${sorted[i]}` : `${sorted[i]}-${sorted[last]}`);
    i = last + 1;
  }
  return parts.join(",");
}
