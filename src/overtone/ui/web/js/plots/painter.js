/** Paints jobs of pixels.js in a Worker, or on the main thread in slices where there is none. */

import { painting } from "./pixels.js";
import { inSlices } from "./slices.js";

/** @typedef {import("./pixels.js").Job} Job */

/** @type {Worker | null} */
let worker = null;
let lastId = 0;
/** @type {Map<number, {job: Job, done: (pixels: Uint8ClampedArray) => void}>} */
const waiting = new Map();

/**
 * Paints in a Worker from now on. Without this call, or if it cannot be started, the main thread paints.
 * @param {string} address
 */
export function startWorker(address) {
  try {
    worker = new Worker(address);
  } catch {
    return;
  }
  worker.onmessage = ({ data }) => {
    waiting.get(data.id)?.done(data.pixels);
    waiting.delete(data.id);
  };
  worker.onerror = () => {
    worker?.terminate();
    worker = null;
    for (const { job, done } of waiting.values()) inSlices(painting(job), done);
    waiting.clear();
  };
}

/**
 * @param {Job} job
 * @returns {Promise<Uint8ClampedArray>} Pixels, four bytes each.
 */
export function paint(job) {
  return new Promise((done) => {
    if (!worker) {
      inSlices(painting(job), done);
      return;
    }
    const id = ++lastId;
    waiting.set(id, { job, done });
    worker.postMessage({ id, job });
  });
}
