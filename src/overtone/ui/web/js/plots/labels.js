/** Numbers, times and texts as axes show them: as analysis/drawing/labels.py. */

import { printable } from "../format.js";

/**
 * A number with at most four digits that tell: "0.01234", "1.5e-7", "123,457".
 * @param {number} value
 */
export function shortNumber(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e7 && (Number.isInteger(value) || size >= 1e4)) return grouped(Math.round(value), 0);
  if (size < 1e-3 || size >= 1e7) {
    const [mantissa, exponent] = value.toExponential(3).split("e");
    return `${Number(mantissa)}e${Number(exponent)}`;
  }
  return String(Number(value.toPrecision(4)));
}

/**
 * @param {number} value
 * @param {number} decimals
 */
export function grouped(value, decimals) {
  const [whole, rest] = Math.abs(value).toFixed(decimals).split(".");
  const sign = value < 0 && Number(value.toFixed(decimals)) !== 0 ? "-" : "";
  return sign + whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? `.${rest}` : "");
}

/**
 * A time with its unit: "6.5 ms", "0.25 s", "90 s", "5 min", "2.5 h", "3 d".
 * @param {number} seconds
 */
export function shortDuration(seconds) {
  const size = Math.abs(seconds);
  if (size > 0 && size < 0.1) {
    return size >= 1e-4 ? `${Number((seconds * 1000).toPrecision(2))} ms` : `${Number(seconds.toPrecision(2))} s`;
  }
  for (const [limit, unit, name] of UNITS) {
    if (size < limit) return `${Number((seconds / unit).toPrecision(3))} ${name}`;
  }
  return `${Number((seconds / 86400).toPrecision(3))} d`;
}

/** @type {[number, number, string][]} */
const UNITS = [[120, 1, "s"], [7200, 60, "min"], [172800, 3600, "h"]];

/**
 * At most `most` letters, shortened in the middle, since the ends of names tell them apart.
 * @param {unknown} text
 * @param {number} most
 */
export function shortened(text, most) {
  let line = String(text);
  if (line.length > 4 * most + 64) line = `${line.slice(0, 2 * most)}…${line.slice(-2 * most)}`;
  const letters = [...printable(line).split(/\s+/).filter(Boolean).join(" ")];
  if (letters.length <= most) return letters.join("");
  const tail = (most - 1) >> 1;
  return `${letters.slice(0, most - 1 - tail).join("")}…${tail ? letters.slice(-tail).join("") : ""}`;
}

/**
 * A text that is at most `width` wide, by a function that measures.
 * @param {unknown} text
 * @param {number} width
 * @param {(text: string) => number} measure
 */
export function fitted(text, width, measure) {
  let most = 200;
  let line = shortened(text, most);
  while (most > 3) {
    const size = measure(line);
    if (size <= width) break;
    most = Math.max(3, Math.min([...line].length - 1, Math.floor(([...line].length * width) / size)));
    line = shortened(text, most);
  }
  return line;
}
