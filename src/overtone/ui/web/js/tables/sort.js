/** Sorts rows of a table by a column: a stable radix sort of an index array, missing values last. */

/** @typedef {import("../data/table.js").Column} Column */

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const MISSING = 0xffffffff;
const SIGN = 0x80000000;

/**
 * @param {Column | null} column null: the order of creation
 * @param {boolean} isDescending
 * @param {Uint8Array | null} mask the rows to sort; null for all
 * @param {number} length of the table
 * @returns {Uint32Array} rows in order; equal ones in the order of creation
 */
export function sortedRows(column, isDescending, mask, length) {
  const rows = chosenRows(mask, length);
  if (column === null) return isDescending ? rows.reverse() : rows;
  return wordsOf(column, rows, isDescending).reduce(sortedByWord, rows);
}

/**
 * @param {Uint8Array | null} mask
 * @param {number} length
 */
function chosenRows(mask, length) {
  const rows = new Uint32Array(length);
  let n = 0;
  for (let i = 0; i < length; i += 1) {
    rows[n] = i;
    n += mask === null || mask[i] === 1 ? 1 : 0;
  }
  return rows.slice(0, n);
}

/**
 * Returns unsigned integers that are in the order of the values, by row: one array, or two of which the
 * first counts less.
 * @param {Column} column
 * @param {Uint32Array} rows
 * @param {boolean} isDescending
 * @returns {Uint32Array[]}
 */
function wordsOf(column, rows, isDescending) {
  const { values } = column;
  if (column.levels !== null) return [wholeWords(values, rows, isDescending, levelRanks(column.levels))];
  if (values instanceof Float64Array) return doubleWords(values, rows, isDescending);
  if (values instanceof Float32Array) return [floatWords(values, rows, isDescending)];
  return [wholeWords(values, rows, isDescending, null, column.key === "fact:source")];
}

/**
 * @param {ArrayLike<number>} values
 * @param {Uint32Array} rows
 * @param {boolean} isDescending
 * @param {Uint32Array | null} ranks of the levels that the values count into; null if the values are numbers
 * @param {boolean} [isMissingBelowZero]
 */
function wholeWords(values, rows, isDescending, ranks, isMissingBelowZero = ranks !== null) {
  const words = new Uint32Array(values.length);
  for (const row of rows) {
    const word = ranks === null ? values[row] ^ SIGN : ranks[values[row]] + 1;
    words[row] = isMissingBelowZero && values[row] < 0 ? MISSING : isDescending ? ~word : word;
  }
  return words;
}

/**
 * @param {Float32Array} values
 * @param {Uint32Array} rows
 * @param {boolean} isDescending
 */
function floatWords(values, rows, isDescending) {
  const words = new Uint32Array(values.length);
  const number = new Float32Array(1);
  const bits = new Uint32Array(number.buffer);
  for (const row of rows) {
    number[0] = values[row] + 0; // -0 becomes 0
    const isNegative = (bits[0] & SIGN) !== 0;
    const word = isNegative ? ~bits[0] : bits[0] | SIGN;
    words[row] = Number.isNaN(number[0]) ? MISSING : isDescending ? ~word : word;
  }
  return words;
}

/**
 * @param {Float64Array} values
 * @param {Uint32Array} rows
 * @param {boolean} isDescending
 */
function doubleWords(values, rows, isDescending) {
  const low = new Uint32Array(values.length);
  const high = new Uint32Array(values.length);
  const number = new Float64Array(1);
  const bits = new Uint32Array(number.buffer); // little-endian, as every browser is today
  for (const row of rows) {
    number[0] = values[row] + 0;
    if (Number.isNaN(number[0])) {
      high[row] = MISSING;
      continue;
    }
    const isNegative = (bits[1] & SIGN) !== 0;
    const isInverted = isNegative !== isDescending;
    low[row] = isInverted ? ~bits[0] : bits[0];
    high[row] = (isInverted ? ~bits[1] : bits[1]) ^ (isNegative ? 0 : SIGN);
  }
  return [low, high];
}

/**
 * Ranks the levels of a category: numbers before texts, both in their order.
 * @param {any[]} levels
 */
function levelRanks(levels) {
  const texts = levels.map((level) => (typeof level === "string" ? level : JSON.stringify(level)).toLowerCase());
  const order = [...levels.keys()].sort((a, b) => {
    const areNumbers = [typeof levels[a] === "number", typeof levels[b] === "number"];
    if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? -1 : 1;
    if (areNumbers[0]) return levels[a] - levels[b];
    return texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : a - b;
  });
  const ranks = new Uint32Array(levels.length);
  order.forEach((level, rank) => (ranks[level] = rank));
  return ranks;
}

/**
 * Sorts rows by one word each, digit by digit; rows of equal words keep their order.
 * @param {Uint32Array} rows
 * @param {Uint32Array} words by row
 * @returns {Uint32Array}
 */
function sortedByWord(rows, words) {
  let from = rows;
  /** @type {Uint32Array} */
  let to = new Uint32Array(rows.length);
  for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
    const ends = new Uint32Array(DIGITS);
    for (const row of from) ends[(words[row] >>> shift) & (DIGITS - 1)] += 1;
    if (from.length === 0 || ends[(words[from[0]] >>> shift) & (DIGITS - 1)] === from.length) continue;
    for (let digit = 1; digit < DIGITS; digit += 1) ends[digit] += ends[digit - 1];
    for (let i = from.length - 1; i >= 0; i -= 1) {
      const digit = (words[from[i]] >>> shift) & (DIGITS - 1);
      ends[digit] -= 1;
      to[ends[digit]] = from[i];
    }
    [from, to] = [to, from === rows ? new Uint32Array(rows.length) : from];
  }
  return from;
}
