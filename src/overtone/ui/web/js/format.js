/** Numbers, durations and times as Overtone writes them in terminals (observers/display/plain_text.py). */

/**
 * A number to six significant digits, as Python's "%g"; integers exactly.
 *
 * @param {number | null | undefined} x
 * @param {boolean} [isInteger] Whether x is an integer in Python, to be shown with all digits.
 * @returns {string}
 */
export function number(x, isInteger = false) {
  if (x === null || x === undefined) return "";
  if (Number.isNaN(x)) return "nan";
  if (x === Infinity) return "inf";
  if (x === -Infinity) return "-inf";
  if (x === 0) return Object.is(x, -0) && !isInteger ? "-0" : "0";
  if (isInteger && Number.isInteger(x)) return Math.abs(x) < 1e21 ? String(x) : BigInt(x).toString();
  const [digits, power] = sixDigits(x).split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 6) {
    const sign = exponent < 0 ? "-" : "+";
    return `${trimmed(digits)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  return trimmed(Number(`${digits}e${power}`).toFixed(5 - exponent));
}

/** @param {number} x To six digits with an exponent; a value between two of them goes to the even one, as in Python. */
function sixDigits(x) {
  const rounded = x.toExponential(5);
  if (!/^-?\d\.\d{5}5e/.test(x.toExponential()) || !/^-?\d\.\d{5}50*e/.test(x.toExponential(60))) return rounded;
  const [digits, power] = x.toExponential(6).split("e");
  return Number(digits[digits.length - 2]) % 2 === 0 ? `${digits.slice(0, -1)}e${power}` : rounded;
}

/** @param {string} digits */
function trimmed(digits) {
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}

/**
 * A count with separators of thousands in English and Chinese, such as 12,345.
 *
 * @param {number} n
 * @returns {string}
 */
export function count(n) {
  return Math.abs(n) < 1e15 ? Math.trunc(n).toLocaleString("en-US") : String(n);
}

/** What Python's isprintable refuses, but for the ends of lines and tabs of output. */
const UNPRINTABLE = /[^\P{C}\n\t]|[^\P{Z} ]/gu;
const HAS_UNPRINTABLE = /[^\P{C}\n\t]|[^\P{Z} ]/u;

/**
 * Return a text without control characters and without marks that turn its direction: spaces stand for them, as
 * in figures (analysis/drawing/labels.py).
 *
 * @param {string} text
 * @returns {string}
 */
export function printable(text) {
  return HAS_UNPRINTABLE.test(text) ? text.replace(UNPRINTABLE, " ") : text;
}

/**
 * Return a value as JSON in which characters that cannot be seen are escapes.
 *
 * @param {any} value
 * @param {number} [indent]
 * @returns {string}
 */
export function json(value, indent) {
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE, (letters) => (
    [...Array(letters.length).keys()].map((i) => `\\u${letters.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")));
}

/**
 * Any value of a config or a result in a short line of text; "" for nothing.
 *
 * @param {unknown} value
 * @param {boolean} [isInteger]
 * @returns {string}
 */
export function text(value, isInteger = true) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return number(value, isInteger);
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "True" : "False";
  return json(value);
}

/**
 * Seconds as people write them: "0.8 s", "42 s", "3 min 05 s", "2 h 07 min", "3 d 4 h".
 *
 * @param {number | null | undefined} seconds
 * @returns {string}
 */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "";
  if (seconds < 10) return `${tenths(Math.max(seconds, 0))} s`;
  const whole = evenly(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${div(whole, 60)} min ${two(whole % 60)} s`;
  if (whole < 86400) return `${div(whole, 3600)} h ${two(div(whole % 3600, 60))} min`;
  return `${div(whole, 86400)} d ${div(whole % 86400, 3600)} h`;
}

/**
 * The seconds that something took which may be short: "12.3 ms" below a second, then as `duration`.
 *
 * @param {number | null | undefined} seconds
 * @returns {string}
 */
export function took(seconds) {
  const isShort = typeof seconds === "number" && seconds >= 0 && seconds < 0.9995;
  return isShort ? `${number(Number((seconds * 1000).toPrecision(3)))} ms` : duration(seconds);
}

/** @param {number} x One digit after the point, rounded as Python does: by the exact binary value. */
function tenths(x) {
  const text = x.toFixed(1);
  const half = x * 20; // an odd integer exactly where x lies between two tenths
  if (!Number.isInteger(half) || half % 2 === 0 || (half / 20 !== x)) return text;
  return Number.isInteger(x * 4) ? (evenly(x * 10) / 10).toFixed(1) : text;
}

/** @param {number} x Rounded to an integer, halves to even ones. */
function evenly(x) {
  const below = Math.floor(x);
  return x - below === 0.5 ? below + (below % 2) : Math.round(x);
}

/** @param {number} a @param {number} b */
function div(a, b) {
  return Math.floor(a / b);
}

/** @param {number} n */
function two(n) {
  return String(n).padStart(2, "0");
}

/**
 * A moment in the reader's time zone: "14:03:07" today, else "2026-03-01 14:03".
 *
 * @param {string | number | null | undefined} iso ISO 8601, or seconds since 1970.
 * @param {Date} [now]
 * @returns {string}
 */
export function moment(iso, now = new Date()) {
  if (iso === null || iso === undefined || iso === "") return "";
  const at = typeof iso === "number" ? new Date(iso * 1000) : new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return at.toDateString() === now.toDateString() ? `${time}:${two(at.getSeconds())}` : `${day} ${time}`;
}

/**
 * Bytes as "12.3 MB" (powers of 1,000, as disks are sold).
 *
 * @param {number | null | undefined} n
 * @returns {string}
 */
export function bytes(n) {
  if (n === null || n === undefined) return "";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let i = 0;
  while (n >= 999.5 && i < units.length - 1) {
    n /= 1000;
    i++;
  }
  return `${i === 0 ? n : n < 10 ? n.toFixed(1) : n.toFixed(0)} ${units[i]}`;
}
