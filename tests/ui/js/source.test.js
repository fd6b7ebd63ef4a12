import assert from "node:assert/strict";
import { test } from "node:test";
import { EventParser } from "../../../src/overtone/ui/web/js/data/events.js";
import { encode } from "./encode.mjs";
import { SourceError, httpSource, ranges } from "../../../src/overtone/ui/web/js/data/source.js";
import { followStream, waitBefore } from "../../../src/overtone/ui/web/js/data/stream.js";

test("events are read wherever the stream is cut", () => {
  const stream = ": hello\n\nid: 3\nevent: rows\ndata: a\ndata: b\n\nevent:overview\r\nid: 4\r\ndata:{}\r\n\r\n:\n\ndata: x\n\nevent: none\n\n";
  const wanted = [
    { event: "rows", data: "a\nb", id: "3" },
    { event: "overview", data: "{}", id: "4" },
    { event: "message", data: "x", id: "4" },
  ];
  for (let step = 1; step < stream.length; step++) {
    const parser = new EventParser();
    const found = [];
    for (let at = 0; at < stream.length; at += step) found.push(...parser.push(stream.slice(at, at + step)));
    assert.deepEqual(found, wanted, `pieces of ${step}`);
  }
});

test("rows are asked for as ranges", () => {
  assert.equal(ranges([5, 1, 2, 3, 9, 2]), "1-3,5,9");
  assert.equal(ranges([]), "");
});

test("the wait grows to a limit", () => {
  const waits = [0, 1, 2, 3, 10, 60].map((attempt) => waitBefore(attempt, 0.5));
  assert.deepEqual(waits, [0.5, 1, 2, 4, 15, 15]);
  assert.ok(waitBefore(60, 1) < 20);
});

/**
 * A server of streams: each connection gets the next of `scripts`.
 *
 * @param {(string | number | Error)[]} scripts The text of a stream, an HTTP status, or a failure.
 */
function server(scripts) {
  /** @type {{url: string, last: string | null}[]} */
  const asked = [];
  const send = /** @type {typeof fetch} */ (async (url, init) => {
    asked.push({ url: String(url), last: new Headers(init?.headers).get("Last-Event-ID") });
    const script = scripts.shift();
    if (script instanceof Error || script === undefined) throw script ?? new Error("no more");
    if (typeof script === "number") return new Response("{}", { status: script });
    return new Response(script);
  });
  return { asked, send };
}

/** A clock that runs what is due when it is told to. */
function clock() {
  /** @type {{work: () => void, seconds: number}[]} */
  const due = [];
  return {
    due,
    later: (/** @type {() => void} */ work, /** @type {number} */ seconds) => {
      const entry = { work, seconds };
      due.push(entry);
      return () => void (due.includes(entry) && due.splice(due.indexOf(entry), 1));
    },
  };
}

/** Let everything that waits for nothing outside happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve)).then(() => new Promise((resolve) => setImmediate(resolve)));

test("a reconnect resumes at the last record, after a growing wait", async () => {
  const update = Buffer.from(encode({ n: 12, length: 1, rows: "rows", goals: [] }, [{ key: "rows", values: Int32Array.of(0) }], ["a"])).toString("base64");
  const { asked, send } = server([
    `event: rows\nid: 12\ndata: ${update}\n\nevent: overview\nid: 12\ndata: {"state": "running"}\n\n`,
    new TypeError("refused"), 502, `event: problem\nid: 15\ndata: {"error": "gone"}\n\nevent: reload\nid: 15\ndata: null\n\n`, 401,
  ]);
  const { due, later } = clock();
  /** @type {any[]} */
  const seen = [];
  const stop = followStream("http://x/stream?journal=k", 7, {
    onRows: ({ header }) => seen.push(["rows", header.n]),
    onOverview: ({ state }) => seen.push(["overview", state]),
    onProblem: (text) => seen.push(["problem", text]),
    onReload: () => seen.push(["reload"]),
    onState: (state) => seen.push(state),
  }, send, later);
  const waits = [];
  for (let i = 0; i < 4; i++) {
    await settle();
    assert.equal(due.length, 1);
    const [{ work, seconds }] = due.splice(0);
    waits.push(seconds);
    work();
  }
  await settle();
  assert.equal(due.length, 0);
  assert.deepEqual(asked.map(({ last }) => last), ["7", "12", "12", "12", "15"]);
  assert.ok(asked[1].url.endsWith("journal=k&from=12"));
  assert.ok(waits[0] < waits[1] && waits[1] < waits[2] && waits[3] < waits[2], String(waits));
  assert.deepEqual(seen, ["live", ["rows", 12], ["overview", "running"], "lost", "lost", "lost", "live", ["problem", "gone"], ["reload"], "lost", "login"]);
  stop();
});

test("a silent stream is given up and opened again", async () => {
  /** @type {AbortSignal | undefined} */
  let signal;
  let n = 0;
  const send = /** @type {typeof fetch} */ (async (_, init) => {
    n += 1;
    signal = init?.signal ?? undefined;
    return new Response(new ReadableStream({ start: (controller) => signal?.addEventListener("abort", () => controller.error(new Error("aborted"))) }));
  });
  const { due, later } = clock();
  /** @type {string[]} */
  const states = [];
  const nothing = () => {};
  const stop = followStream("http://x?", 0, { onRows: nothing, onOverview: nothing, onReload: nothing, onProblem: nothing, onState: (state) => states.push(state) }, send, later);
  await settle();
  due.splice(0).forEach(({ work }) => work()); // no sign for so long
  await settle();
  assert.deepEqual(states, ["live", "lost"]);
  due.splice(0).forEach(({ work }) => work());
  await settle();
  assert.equal(n, 2);
  stop();
  await settle();
  assert.deepEqual(states, ["live", "lost", "live"]);
  assert.ok(signal?.aborted);
});

test("an error of the server is its own sentence", async () => {
  const answers = [
    Response.json({ error: "trial 3 has ended", allowed: ["clone"] }, { status: 409 }),
    new Response("<html>", { status: 502, statusText: "Bad Gateway" }),
  ];
  const source = httpSource("", /** @type {any} */ (async () => answers.shift()));
  await assert.rejects(source.act("e", "pause", "3", {}, "id"), (error) => {
    assert.ok(error instanceof SourceError);
    assert.equal(error.message, "trial 3 has ended");
    assert.deepEqual(error.body.allowed, ["clone"]);
    return true;
  });
  await assert.rejects(source.overview("e"), { message: "502 Bad Gateway", status: 502 });
  const dead = httpSource("", /** @type {any} */ (async () => Promise.reject(new TypeError("Failed to fetch"))));
  await assert.rejects(dead.overview("e"), { status: 0 });
});

test("names are escaped in addresses", async () => {
  /** @type {string[]} */
  const asked = [];
  const source = httpSource("/base", /** @type {any} */ (async (/** @type {string} */ url) => (asked.push(url), Response.json({}))));
  await source.trial("a/b?", "c#d");
  await source.curves("e", ["x", "y"], "val/loss");
  assert.deepEqual(asked, ["/base/api/experiments/a%2Fb%3F/trials/c%23d", "/base/api/experiments/e/curves?trials=x%2Cy&metric=val%2Floss&points=500"]);
});
