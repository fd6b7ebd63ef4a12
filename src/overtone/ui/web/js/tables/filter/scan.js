/** The loops of a filter: each fills a mask, a byte per row, from arrays of values. */

/** @typedef {import("../../data/table.js").Column} Column */

/** @typedef {(mask: Uint8Array) => void} Scan writes 0 or 1 for each row of the mask */

/**
 * @param {ArrayLike<number>} values
 * @param {string} operator
 * @param {number} bound
 * @returns {Scan} false where the value is NaN
 */
export function comparing(values, operator, bound) {
  switch (operator) {
    case "<":
      return (mask) => {
        for (let i = 0; i < mask.length; i += 1) mask[i] = values[i] < bound ? 1 : 0;
      };
    case "<=":
      return (mask) => {
        for (let i = 0; i < mask.length; i += 1) mask[i] = values[i] <= bound ? 1 : 0;
      };
    case ">":
      return (mask) => {
        for (let i = 0; i < mask.length; i += 1) mask[i] = values[i] > bound ? 1 : 0;
      };
    case ">=":
      return (mask) => {
        for (let i = 0; i < mask.length; i += 1) mask[i] = values[i] >= bound ? 1 : 0;
      };
    case "==":
      return (mask) => {
        for (let i = 0; i < mask.length; i += 1) mask[i] = values[i] === bound ? 1 : 0;
      };
    default:
      return (mask) => {
        for (let i = 0; i < mask.length; i += 1) mask[i] = values[i] < bound || values[i] > bound ? 1 : 0;
      };
  }
}

/**
 * @param {ArrayLike<number>} values
 * @param {number[]} choices
 * @returns {Scan}
 */
export function amongNumbers(values, choices) {
  const set = new Set(choices);
  return (mask) => {
    for (let i = 0; i < mask.length; i += 1) mask[i] = set.has(values[i]) ? 1 : 0;
  };
}

/**
 * @param {ArrayLike<number>} codes -1 where there is no value
 * @param {Uint8Array} isChosen whether each level is
 * @returns {Scan}
 */
export function amongLevels(codes, isChosen) {
  return (mask) => {
    for (let i = 0; i < mask.length; i += 1) mask[i] = codes[i] >= 0 ? isChosen[codes[i]] : 0;
  };
}

/**
 * @param {Column} column
 * @returns {Scan}
 */
export function missing(column) {
  const { values } = column;
  if (column.levels !== null) {
    return (mask) => {
      for (let i = 0; i < mask.length; i += 1) mask[i] = values[i] < 0 ? 1 : 0;
    };
  }
  return (mask) => {
    for (let i = 0; i < mask.length; i += 1) mask[i] = Number.isNaN(values[i]) ? 1 : 0;
  };
}

/**
 * @param {(row: number) => string | number} left NaN if missing
 * @param {string} operator
 * @param {(row: number) => string | number} right
 * @returns {Scan}
 */
export function comparingRows(left, operator, right) {
  const isTrue = relation(operator);
  return (mask) => {
    for (let i = 0; i < mask.length; i += 1) mask[i] = isTrue(left(i), right(i)) ? 1 : 0;
  };
}

/**
 * @param {string} operator
 * @returns {(a: any, b: any) => boolean} false where a value is NaN
 */
export function relation(operator) {
  switch (operator) {
    case "<":
      return (a, b) => a < b;
    case "<=":
      return (a, b) => a <= b;
    case ">":
      return (a, b) => a > b;
    case ">=":
      return (a, b) => a >= b;
    case "==":
      return (a, b) => a === b;
    default:
      return (a, b) => a === a && b === b && a !== b;
  }
}

/**
 * @param {Scan[]} parts
 * @param {boolean} isAnd
 * @returns {Scan}
 */
export function joined(parts, isAnd) {
  return (mask) => {
    parts[0](mask);
    const other = new Uint8Array(mask.length);
    for (const part of parts.slice(1)) {
      part(other);
      if (isAnd) for (let i = 0; i < mask.length; i += 1) mask[i] &= other[i];
      else for (let i = 0; i < mask.length; i += 1) mask[i] |= other[i];
    }
  };
}

/**
 * @param {Scan} part
 * @returns {Scan}
 */
export function inverse(part) {
  return (mask) => {
    part(mask);
    for (let i = 0; i < mask.length; i += 1) mask[i] ^= 1;
  };
}
