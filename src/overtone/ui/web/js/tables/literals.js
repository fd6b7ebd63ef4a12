/** A config as text that can be pasted into a Python script or a JSON file. */

/**
 * @param {any} value of JSON
 * @param {string} [indent]
 * @returns {string}
 */
export function pythonLiteral(value, indent = "") {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "number") return pythonNumber(value);
  if (typeof value === "string") return pythonString(value);
  const deeper = `${indent}    `;
  if (Array.isArray(value)) return `[${value.map((one) => pythonLiteral(one, indent)).join(", ")}]`;
  const lines = Object.entries(value).map(([key, one]) => `${deeper}${pythonString(key)}: ${pythonLiteral(one, deeper)},\n`);
  return lines.length ? `{\n${lines.join("")}${indent}}` : "{}";
}

/** @param {number} value */
function pythonNumber(value) {
  if (Number.isNaN(value)) return 'float("nan")';
  if (!Number.isFinite(value)) return `float("${value > 0 ? "inf" : "-inf"}")`;
  return Object.is(value, -0) ? "-0.0" : String(value);
}

/** @param {string} text */
function pythonString(text) {
  return JSON.stringify(text).replace(/[\p{C}\p{Z}]/gu, (c) => {
    const code = c.codePointAt(0) ?? 0;
    return code === 32 ? c : code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
  });
}

/**
 * @param {number} code
 * @param {number} digits
 */
function hex(code, digits) {
  return code.toString(16).padStart(digits, "0");
}

/**
 * Returns a nested config of flat names such as "optimizer/lr".
 * @param {Record<string, any>} flat
 */
export function nested(flat) {
  /** @type {Map<string, any>} */
  const root = new Map();
  for (const [name, value] of Object.entries(flat)) {
    const parts = name.split("/");
    let level = root;
    for (const part of parts.slice(0, -1)) {
      const deeper = level.get(part);
      if (!(deeper instanceof Map)) level.set(part, new Map());
      level = level.get(part);
    }
    level.set(parts[parts.length - 1], value);
  }
  return plain(root);
}

/**
 * @param {Map<string, any>} level
 * @returns {Record<string, any>}
 */
function plain(level) {
  return Object.fromEntries([...level].map(([key, value]) => [key, value instanceof Map ? plain(value) : value]));
}
