/** A notebook's data: the kernel sends the state of the run as traits, and answers questions while it is idle. */
import { signal } from "../html.js";
import { decode } from "./message.js";
import { SourceError } from "./source.js";

/**
 * @typedef {import("./source.js").Source} Source
 * @typedef {{get: (name: string) => any, on: (event: string, call: (...given: any[]) => void) => void,
 *   off: (event: string, call: (...given: any[]) => void) => void,
 *   send: (content: any) => void}} Model What anywidget gives.
 */

/** The kernel sends the overview every 2 s while a run lasts: after so long without, it is not there. */
const SILENCE_MS = 12_000;

/** How many questions the kernel has not answered yet. */
export const waiting = signal(0);

/**
 * @param {Model} model
 * @returns {Source}
 */
export function modelSource(model) {
  /** @type {Map<number, {done: (answer: any) => void, fail: (error: Error) => void}>} */
  const asked = new Map();
  let last = 0;

  model.on("msg:custom", (content, buffers = []) => {
    const question = asked.get(content?.id);
    if (!question) return; // another display asked
    asked.delete(content.id);
    waiting.value = asked.size;
    if (content.error !== undefined) question.fail(new SourceError(content.error, 409));
    else question.done(buffers.length ? decode(aligned(buffers[0])) : content.answer);
  });

  /**
   * @param {string} ask
   * @param {any[]} [args]
   * @param {Record<string, any>} [options]
   * @returns {Promise<any>}
   */
  const question = (ask, args = [], options = {}) =>
    new Promise((done, fail) => {
      const id = Date.now() * 1000 + (++last % 1000);
      asked.set(id, { done, fail });
      waiting.value = asked.size;
      model.send({ id, ask, args, options });
    });
  const absent = () => Promise.reject(new SourceError("", 404));
  const overview = async () => JSON.parse(model.get("overview"));

  return {
    can: { act: false, log: true, follow: true, compare: false, stack: false },
    me: async () => ({ version: "", read_only: true, is_demo: false, folder: "", can: {} }),
    login: async () => {},
    experiments: async () => ({ folder: "", experiments: [await overview()] }),
    overview,
    columns: () => new Promise((done) => {
      const take = () => {
        if (!model.get("whole")?.byteLength) return;
        model.off("change:whole", take);
        done(decode(aligned(model.get("whole"))));
      };
      model.on("change:whole", take);
      take();
    }),
    rows: (_exp, rows) => question("rows", [rows]),
    trial: (_exp, id) => question("trial", [id]),
    curves: (_exp, ids, metric, points = 500) => question("curves", [ids, metric, points]),
    log: (_exp, id, at = {}) => question("log", [id], at),
    stack: absent,
    plot: (_exp, name, options = {}) => question("plot", [name], options),
    decisions: (_exp, at = {}) => question("decisions", [], at),
    machines: () => question("machines"),
    compare: absent,
    act: absent,
    follow: (_exp, _from, journal, handlers) => followModel(model, journal, handlers),
  };
}

/**
 * @param {Model} model
 * @param {string} journal
 * @param {import("./source.js").Handlers} handlers
 */
function followModel(model, journal, { onRows, onOverview, onReload, onState }) {
  let timer = setTimeout(() => {});
  const onWhole = () => onReload();
  const onUpdate = () => {
    if (!model.get("update")?.byteLength) return;
    const message = decode(aligned(model.get("update")));
    if (journal && message.header.journal !== journal) return; // its columns come as well
    onRows(message);
  };
  const onText = () => {
    if (!model.get("overview")) return;
    const overview = JSON.parse(model.get("overview"));
    onState("live");
    onOverview(overview);
    clearTimeout(timer);
    if (overview.state === "running" || overview.state === "stopping") timer = setTimeout(() => onState("lost"), SILENCE_MS);
  };
  model.on("change:whole", onWhole);
  model.on("change:update", onUpdate);
  model.on("change:overview", onText);
  onUpdate();
  onText();
  return () => {
    clearTimeout(timer);
    model.off("change:whole", onWhole);
    model.off("change:update", onUpdate);
    model.off("change:overview", onText);
  };
}

/**
 * @param {DataView | ArrayBuffer} bytes
 * @returns {ArrayBuffer} A copy that begins where arrays may begin.
 */
function aligned(bytes) {
  if (bytes instanceof ArrayBuffer) return bytes;
  return /** @type {ArrayBuffer} */ (bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}
