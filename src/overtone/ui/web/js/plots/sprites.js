/** Small masks of the symbols that are stamped into pixels. */

/**
 * @typedef {object} Sprite
 * @property {number} size   Width and height of the mask, odd.
 * @property {Uint8Array} mask  Opacity of each pixel, 0 to 255, row by row.
 * @property {[number, number, number]} rgb
 */

/** @typedef {"circle"|"cross"|"diamond"|"bar"|"ring"} Symbol */

const SAMPLES = 4; // in each direction of a pixel

/**
 * Whether a place, in units of the radius, is inside of a symbol whose strokes are 2 * `stroke` wide.
 * @type {Record<Symbol, (x: number, y: number, stroke: number) => boolean>}
 */
const INSIDE = {
  circle: (x, y) => x * x + y * y <= 1,
  ring: (x, y, stroke) => x * x + y * y <= 1 && x * x + y * y >= (1 - 2 * stroke) ** 2,
  diamond: (x, y) => Math.abs(x) + Math.abs(y) <= 1,
  cross: (x, y, stroke) =>
    Math.abs(Math.abs(x) - Math.abs(y)) <= stroke * Math.SQRT2 && Math.max(Math.abs(x), Math.abs(y)) <= 1,
  bar: (x, y, stroke) => Math.abs(x) <= stroke && Math.abs(y) <= 1,
};

/**
 * @param {Symbol} symbol
 * @param {number} diameter In device pixels.
 * @param {number} opacity  0 to 1.
 * @param {[number, number, number]} rgb
 * @returns {Sprite}
 */
export function spriteOf(symbol, diameter, opacity, rgb) {
  const radius = Math.max(diameter, 1) / 2;
  const half = Math.ceil(radius - 0.5);
  const size = 2 * half + 1;
  const stroke = Math.min(0.45, Math.max(0.18, 0.8 / radius));
  const inside = INSIDE[symbol];
  const mask = new Uint8Array(size * size);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      let hits = 0;
      for (let i = 0; i < SAMPLES * SAMPLES; i++) {
        const x = column - half + ((i % SAMPLES) + 0.5) / SAMPLES - 0.5;
        const y = row - half + (Math.floor(i / SAMPLES) + 0.5) / SAMPLES - 0.5;
        if (inside(x / radius, y / radius, stroke)) hits++;
      }
      mask[row * size + column] = Math.round((hits / SAMPLES ** 2) * opacity * 255);
    }
  }
  return { size, mask, rgb };
}
