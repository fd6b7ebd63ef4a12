/** Answers that a report holds as text: base64 of compressed bytes (ui/report/packing.py writes them). */
import { bytesOf, decode } from "./message.js";

/** @type {Record<string, number>} */
const SIZES = { f4: 4, f8: 8, i4: 4, i2: 2, i1: 1, u1: 1 };

/**
 * @param {string} text
 * @returns {Promise<any>}
 */
export async function unpackJson(text) {
  return JSON.parse(new TextDecoder().decode(await inflated(text)));
}

/**
 * @param {string} text
 * @returns {Promise<import("./message.js").Message>}
 */
export async function unpackMessage(text) {
  const buffer = await inflated(text);
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  for (const { dtype, offset, length } of header.arrays) {
    regroup(new Uint8Array(buffer, 4 + size + offset, length * SIZES[dtype]), SIZES[dtype]);
  }
  return decode(buffer);
}

/**
 * Put the bytes of an array in order: first come the first bytes of all elements, then the second ones, ...
 *
 * @param {Uint8Array} bytes
 * @param {number} size Bytes of an element.
 */
function regroup(bytes, size) {
  if (size === 1) return;
  const grouped = bytes.slice();
  const n = bytes.length / size;
  for (let place = 0; place < size; place++) {
    for (let i = 0, from = place * n, to = place; i < n; i++, to += size) bytes[to] = grouped[from + i];
  }
}

/** @param {string} text */
async function inflated(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
