/** A scene out of a message: its arrays in place of their numbers. */

/**
 * @typedef {{title: string, scale: "linear"|"log"|"category", categories: string[], ticks: [number, string][],
 *   low: number|null, high: number|null, is_reversed: boolean, is_time: boolean, is_whole: boolean,
 *   is_hidden: boolean}} Axis
 * @typedef {{x: Axis, y: Axis, marks: import("./marks.js").Mark[], title: string, height: number}} Panel
 * @typedef {{title: string, panels: Panel[], note: string, columns: number,
 *   colour_bar: {title: string, low: string, high: string} | null, least_width: number, empty: string}} Scene
 */

/**
 * @param {{header: any, arrays: Map<string, ArrayLike<number>>}} message
 * @returns {Scene}
 */
export function sceneOf({ header, arrays }) {
  return resolved(header.scene, [...arrays.values()]);
}

/**
 * @param {any} part  A scene or a part of one.
 * @param {ArrayLike<number>[]} arrays
 * @returns {any}
 */
export function resolved(part, arrays) {
  if (Array.isArray(part)) return part.map((one) => resolved(one, arrays));
  if (part === null || typeof part !== "object") return part;
  if (typeof part.array === "number") return arrays[part.array];
  if (Array.isArray(part.texts) && Object.keys(part).length === 1) return part.texts;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, resolved(value, arrays)]));
}
