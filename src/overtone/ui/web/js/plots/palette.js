/** The colours of figures: one colour has one meaning, as in analysis/drawing/palette.py. */

/** @typedef {[light: string, dark: string]} Colour */

/** @type {Record<string, Colour>} */
export const ROLES = {
  best: ["#00845f", "#1fc795"],
  trial: ["#0072b2", "#4aa8e0"],
  completed: ["#0072b2", "#4aa8e0"],
  running: ["#a87b00", "#e3b341"],
  paused: ["#9b4f96", "#cf8fca"],
  pending: ["#3a8c94", "#74c0c8"],
  stopped: ["#7b818a", "#9aa1ab"],
  failed: ["#d55e00", "#ff8a3d"],
  disallowed: ["#c2408f", "#f08fce"],
  cutoff: ["#3d434b", "#d5dae1"],
  page: ["#ffffff", "#14171c"],
  series0: ["#4b3fa7", "#a39bf0"],
  series1: ["#b0446a", "#ef93b1"],
  series2: ["#767a20", "#c5c95a"],
  series3: ["#2a87a8", "#7cc9e6"],
  series4: ["#8a5a2b", "#d0a676"],
  series5: ["#56657a", "#aab7c8"],
  series6: ["#6d2a5e", "#c48cc9"],
  series7: ["#2f6b52", "#8fcab2"],
  ink: ["#1f2328", "#e6e9ee"],
  faint: ["#59616b", "#a3abb6"],
  grid: ["#e3e6ea", "#2c323a"],
};

/** @type {Colour[]} */
export const SHADES = [
  ["#00224e", "#5b6f9c"], ["#12316a", "#667699"], ["#2a406c", "#717d96"], ["#3b4c6c", "#7b8493"],
  ["#4a586c", "#868b8f"], ["#58636f", "#91938b"], ["#666e71", "#9d9b87"], ["#737972", "#a9a382"],
  ["#828470", "#b5ab7d"], ["#91906b", "#c2b476"], ["#a19b62", "#cfbd6e"], ["#b1a654", "#dcc764"],
  ["#bfae3d", "#ead254"], ["#c9b41c", "#fbe045"],
];

export const N_SERIES = 8;

/**
 * @param {string} role
 * @param {boolean} isDark
 */
export function colour(role, isDark) {
  return (ROLES[role] ?? ROLES.trial)[isDark ? 1 : 0];
}

/**
 * The colour of a share of the sequential scale; "" for NaN.
 * @param {number} shade
 * @param {boolean} isDark
 */
export function shadeColour(shade, isDark) {
  if (!(Math.abs(shade) <= Number.MAX_VALUE)) return "";
  const index = Math.min(SHADES.length - 1, Math.max(0, Math.floor(shade * SHADES.length)));
  return SHADES[index][isDark ? 1 : 0];
}

/**
 * The three bytes of "#rrggbb".
 * @param {string} hex
 * @returns {[number, number, number]}
 */
export function bytesOf(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
