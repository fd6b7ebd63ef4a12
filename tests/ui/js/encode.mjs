/** @typedef {import("../../../src/overtone/ui/web/js/data/message.js").TypedArray} TypedArray */

/** @type {Record<string, any>} */
const KINDS = {
  f4: Float32Array, f8: Float64Array, i4: Int32Array, i2: Int16Array, i1: Int8Array, u1: Uint8Array,
};

/**
 * Write a message, as the server does. For tests.
 *
 * @param {Record<string, any>} header Without `arrays` and `ids`.
 * @param {Array<{key?: string, is_log?: boolean, is_integer?: boolean, levels?: any, values: TypedArray}>} parts
 * @param {string[] | null} [ids]
 * @returns {ArrayBuffer}
 */
export function encode(header, parts, ids = null) {
  const dtypes = Object.entries(KINDS);
  let end = 0;
  const arrays = parts.map(({ values, ...entry }) => {
    const dtype = /** @type {[string, any]} */ (dtypes.find(([, Kind]) => values instanceof Kind))[0];
    const offset = end;
    end += Math.ceil(values.byteLength / 8) * 8;
    return { ...entry, dtype, offset, length: values.length };
  });
  const names = new TextEncoder().encode((ids ?? []).join("\n"));
  const whole = { ...header, arrays, ids: { offset: end, bytes: names.length } };
  let text = new TextEncoder().encode(JSON.stringify(whole));
  const size = Math.ceil((4 + text.length) / 8) * 8 - 4;
  const bytes = new Uint8Array(4 + size + end + names.length).fill(32, 4, 4 + size);
  new DataView(bytes.buffer).setUint32(0, size, true);
  bytes.set(text, 4);
  parts.forEach(({ values }, i) => {
    const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    bytes.set(raw, 4 + size + arrays[i].offset);
  });
  bytes.set(names, 4 + size + end);
  return bytes.buffer;
}
