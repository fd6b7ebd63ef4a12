/** The stream of one experiment: read with fetch, so that logins, heartbeats and record numbers are seen. */
import { EventParser } from "./events.js";
import { bytesOf, decode } from "./message.js";

/** Seconds without a sign of the server, which sends a comment every 10 s, before the connection counts as lost. */
const SILENCE_S = 25;
const FIRST_WAIT_S = 0.5;
const MOST_WAIT_S = 15;

/**
 * @param {number} attempt Failed attempts so far.
 * @param {number} random From 0 to 1: pages that lost a server together do not come back together.
 * @returns {number} Seconds to wait before the next attempt.
 */
export function waitBefore(attempt, random) {
  return Math.min(FIRST_WAIT_S * 2 ** attempt, MOST_WAIT_S) * (0.75 + 0.5 * random);
}

/**
 * Follow an experiment until the returned function is called. A reconnect resumes at the last record.
 *
 * @param {string} address With a query.
 * @param {number} from The last record that is known.
 * @param {import("./source.js").Handlers} handlers
 * @param {typeof fetch} send
 * @param {(work: () => void, seconds: number) => () => void} [later] Calls `work` after so long; returns its cancel.
 * @returns {() => void}
 */
export function followStream(address, from, handlers, send, later = timer) {
  let isStopped = false;
  let attempt = 0;
  let last = String(from);
  /** @type {() => void} */
  let cancel = () => {};
  let abort = new AbortController();

  async function connect() {
    abort = new AbortController();
    const { signal } = abort;
    try {
      const response = await send(`${address}&from=${last}`, {
        headers: { Accept: "text/event-stream", "Last-Event-ID": last },
        credentials: "same-origin",
        cache: "no-store",
        signal,
      });
      if (response.status === 401) return stopFor("login");
      if (!response.ok || !response.body) throw new Error(`${response.status} ${response.statusText}`);
      handlers.onState("live");
      await read(response.body.getReader());
      throw new Error("the server closed the connection");
    } catch (error) {
      if (isStopped) return;
      abort.abort();
      handlers.onState("lost", /** @type {Error} */ (error));
      cancel = later(connect, waitBefore(attempt++, Math.random()));
    }
  }

  /** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
  async function read(reader) {
    const parser = new EventParser();
    const decoder = new TextDecoder();
    for (;;) {
      const watch = later(() => abort.abort(), SILENCE_S);
      const { value, done } = await reader.read().finally(watch);
      if (done || isStopped) return;
      attempt = 0;
      for (const event of parser.push(decoder.decode(value, { stream: true }))) {
        if (event.id) last = event.id;
        take(event);
        if (isStopped) return;
      }
    }
  }

  /** @param {import("./events.js").ServerEvent} event */
  function take({ event, data }) {
    if (event === "rows") handlers.onRows(decode(bytesOf(data)));
    else if (event === "overview") handlers.onOverview(JSON.parse(data));
    else if (event === "problem") handlers.onProblem(JSON.parse(data)?.error ?? "");
    else if (event === "reload") handlers.onReload();
  }

  /** @param {"login"} state */
  function stopFor(state) {
    isStopped = true;
    handlers.onState(state);
  }

  connect();
  return () => {
    isStopped = true;
    cancel();
    abort.abort();
  };
}

/** @param {() => void} work @param {number} seconds */
function timer(work, seconds) {
  const id = setTimeout(work, seconds * 1000);
  return () => clearTimeout(id);
}
