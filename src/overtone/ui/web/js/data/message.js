/**
 * Binary messages of the server: a JSON header, then arrays, each at a multiple of 8 bytes.
 *
 * @typedef {Float32Array | Float64Array | Int32Array | Int16Array | Int8Array | Uint8Array} TypedArray
 * @typedef {{key: string, dtype: string, offset: number, length: number, is_log?: boolean,
 *   is_integer?: boolean, levels?: any}} ArrayEntry
 * @typedef {{n: number, length: number, rows: null | string, goals: [string, string][],
 *   arrays: ArrayEntry[], ids?: {offset: number, bytes: number}, [more: string]: any}} Header
 * @typedef {{header: Header, arrays: Map<string, TypedArray>, ids: string[]}} Message
 */

/** @type {Record<string, any>} */
const KINDS = {
  f4: Float32Array, f8: Float64Array, i4: Int32Array, i2: Int16Array, i1: Int8Array, u1: Uint8Array,
};

/**
 * Read a message. The arrays are views of `buffer`, not copies. Arrays without a key (those of a scene)
 * are found by their index, as text.
 *
 * @param {ArrayBuffer} buffer
 * @returns {Message}
 * @throws {RangeError} The message is cut off, or its header does not fit it.
 */
export function decode(buffer) {
  if (buffer.byteLength < 4) throw new RangeError("a message of less than 4 bytes");
  const size = new DataView(buffer).getUint32(0, true);
  const start = 4 + size;
  if (start > buffer.byteLength) throw new RangeError("a message that is cut off in its header");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  /** @type {Map<string, TypedArray>} */
  const arrays = new Map();
  const entries = header.arrays ?? [];
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i];
    const Kind = KINDS[entry.dtype];
    if (!Kind) throw new RangeError(`an array of the unknown type ${entry.dtype}`);
    arrays.set(entry.key ?? String(i), new Kind(buffer, start + entry.offset, entry.length));
  }
  return { header, arrays, ids: idsIn(buffer, start, header.ids) };
}

/**
 * @param {ArrayBuffer} buffer
 * @param {number} start
 * @param {{offset: number, bytes: number} | undefined} place
 * @returns {string[]}
 */
function idsIn(buffer, start, place) {
  if (!place || !place.bytes) return [];
  return new TextDecoder().decode(new Uint8Array(buffer, start + place.offset, place.bytes)).split("\n");
}

/**
 * @param {string} text Base64.
 * @returns {ArrayBuffer}
 */
export function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}
