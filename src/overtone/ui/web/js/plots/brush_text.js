/** Ranges on axes as a filter expression. */

/**
 * @typedef {object} Range
 * @property {string} key            Of the column.
 * @property {number} [low]          In values; for a column with levels not used.
 * @property {number} [high]
 * @property {any[]} [levels]        Those in the range.
 * @property {boolean} [hasMissing]  Whether trials without a value are in the range.
 */

const MOST_LETTERS = 1900; // of an expression

/**
 * @param {{columns: Map<string, {name: string}>}} table
 * @param {Range[]} ranges
 */
export function brushText(table, ranges) {
  let text = "";
  for (const range of ranges) {
    const part = partOf(table, range);
    const longer = part && text ? `${text} and ${part}` : text || part;
    if (longer.length <= MOST_LETTERS) text = longer; // too many categories cannot be said
  }
  return text;
}

/**
 * @param {{columns: Map<string, {name: string}>}} table
 * @param {Range} range
 */
function partOf(table, { key, low, high, levels, hasMissing }) {
  const group = key.slice(0, key.indexOf(":"));
  const plain = key.slice(group.length + 1);
  // A metric may have the name of a hyperparameter, which would be meant.
  const isTaken = group !== "param" && table.columns.has(`param:${plain}`);
  const name = quoted(isTaken ? key : plain);
  const parts = [];
  if (levels) {
    if (levels.length) parts.push(`${name} in (${levels.map(constant).join(", ")})`);
  } else {
    const ends = [];
    if (low !== undefined && Number.isFinite(low)) ends.push(`${name} >= ${rounded(low, false)}`);
    if (high !== undefined && Number.isFinite(high)) ends.push(`${name} <= ${rounded(high, true)}`);
    if (ends.length) parts.push(ends.join(" and "));
  }
  if (hasMissing) parts.push(`${name} is missing`);
  return parts.length > 1 ? `(${parts.join(" or ")})` : (parts[0] ?? "");
}

/** @param {string} name */
function quoted(name) {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !KEYWORDS.has(name.toLowerCase()) ? name : `\`${name.replace(/[\\`]/g, "\\$&")}\``;
}

const KEYWORDS = new Set(["and", "or", "not", "in", "is", "contains", "missing", "best", "min", "max", "last", "true", "false", "nan", "none", "inf", "infinity", "null"]);

/** @param {any} level */
function constant(level) {
  if (typeof level === "number") return String(level);
  if (typeof level === "boolean") return level ? "true" : "false";
  return JSON.stringify(typeof level === "string" ? level : JSON.stringify(level));
}

/**
 * Four digits, rounded outwards, so that what is brushed stays in.
 * @param {number} value
 * @param {boolean} isUp
 */
function rounded(value, isUp) {
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  const near = Number(value.toPrecision(4));
  if (isUp ? near >= value : near <= value) return String(near);
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 3);
  const moved = Number((near + (isUp ? step : -step)).toPrecision(4));
  return String(Number.isFinite(moved) && (isUp ? moved >= value : moved <= value) ? moved : value);
}
