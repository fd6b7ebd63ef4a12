/**
 * Marks drawn into pixels by hand: 100,000 take a tenth of a second, on a canvas many seconds.
 *
 * Each function is a generator that yields after some thousand marks: a Worker runs it at once, the main
 * thread in slices.
 */

/** @typedef {import("./sprites.js").Sprite} Sprite */

const EACH = 20000; // marks between two yields

/**
 * @typedef {object} PointsJob
 * @property {"points"} kind
 * @property {number} width   In device pixels.
 * @property {number} height
 * @property {Float32Array} x  NaN for none.
 * @property {Float32Array} y
 * @property {Uint8Array} codes  Which sprite each point has; one without a sprite is not drawn.
 * @property {Sprite[]} sprites  Drawn in this order, the last on top.
 */

/**
 * Stamps a sprite at each point.
 * @param {PointsJob} job
 * @returns {Generator<void, Uint8ClampedArray>}
 */
function* points({ width, height, x, y, codes, sprites }) {
  const out = new Uint8ClampedArray(4 * width * height);
  for (let code = 0; code < sprites.length; code++) {
    const { half, dx, dy, alpha, red, green, blue } = inked(sprites[code]);
    for (let i = 0; i < x.length; i++) {
      if (i % EACH === EACH - 1) yield;
      if (codes[i] !== code || !(x[i] - x[i] === 0 && y[i] - y[i] === 0)) continue;
      const left = Math.round(x[i]);
      const top = Math.round(y[i]);
      const isInside = left >= half && top >= half && left + half < width && top + half < height;
      for (let j = 0; j < dx.length; j++) {
        const column = left + dx[j];
        const row = top + dy[j];
        if (!isInside && (column < 0 || row < 0 || column >= width || row >= height)) continue;
        const place = 4 * (row * width + column);
        const rest = 255 - alpha[j];
        // (v * 257 + 32,896) >> 16 is v / 255, rounded; colours are multiplied by their opacity until the end.
        out[place] = red[j] + ((out[place] * rest * 257 + 32896) >>> 16);
        out[place + 1] = green[j] + ((out[place + 1] * rest * 257 + 32896) >>> 16);
        out[place + 2] = blue[j] + ((out[place + 2] * rest * 257 + 32896) >>> 16);
        out[place + 3] = alpha[j] + ((out[place + 3] * rest * 257 + 32896) >>> 16);
      }
    }
  }
  yield;
  for (let place = 0; place < out.length; place += 4) {
    const alpha = out[place + 3];
    if (alpha === 0 || alpha === 255) continue;
    out[place] = (out[place] * 255) / alpha;
    out[place + 1] = (out[place + 1] * 255) / alpha;
    out[place + 2] = (out[place + 2] * 255) / alpha;
  }
  return out;
}

/**
 * The pixels of a sprite that are not empty, from its middle, with colours multiplied by their opacity.
 * @param {Sprite} sprite
 */
function inked({ size, mask, rgb }) {
  const half = size >> 1;
  const places = [...mask.keys()].filter((i) => mask[i]);
  const of = (/** @type {(i: number) => number} */ value) => Int32Array.from(places, value);
  const times = (/** @type {number} */ k) => of((i) => Math.round((rgb[k] * mask[i]) / 255));
  return {
    half, dx: of((i) => (i % size) - half), dy: of((i) => Math.floor(i / size) - half), alpha: of((i) => mask[i]),
    red: times(0), green: times(1), blue: times(2),
  };
}

/**
 * @typedef {object} BarsJob
 * @property {"bars"} kind
 * @property {number} width
 * @property {number} height
 * @property {Float32Array} x0  Left end of each bar.
 * @property {Float32Array} x1
 * @property {Float32Array} y   Upper edge of each bar.
 * @property {number} thickness
 * @property {Uint8Array} codes
 * @property {[number, number, number][]} colours
 */

/**
 * Fills bars; of bars that share a pixel, each has a part of its colour.
 * @param {BarsJob} job
 * @returns {Generator<void, Uint8ClampedArray>}
 */
function* bars({ width, height, x0, x1, y, thickness, codes, colours }) {
  const sums = new Float32Array(4 * width * height);
  for (let i = 0; i < x0.length; i++) {
    if (i % EACH === EACH - 1) yield;
    const rgb = colours[codes[i]];
    if (!rgb || !(y[i] - y[i] === 0)) continue;
    const left = Math.max(0, x0[i]);
    const right = Math.min(width, Math.max(x1[i], x0[i] + 1)); // at least a pixel wide
    const top = Math.max(0, y[i]);
    const bottom = Math.min(height, y[i] + thickness);
    for (let row = Math.floor(top); row < bottom; row++) {
      const tall = Math.min(row + 1, bottom) - Math.max(row, top);
      for (let column = Math.floor(left); column < right; column++) {
        const share = tall * (Math.min(column + 1, right) - Math.max(column, left));
        const place = 4 * (row * width + column);
        sums[place] += rgb[0] * share;
        sums[place + 1] += rgb[1] * share;
        sums[place + 2] += rgb[2] * share;
        sums[place + 3] += share;
      }
    }
  }
  yield;
  const out = new Uint8ClampedArray(sums.length);
  for (let place = 0; place < sums.length; place += 4) {
    const share = sums[place + 3];
    if (!(share > 0)) continue;
    out[place] = sums[place] / share;
    out[place + 1] = sums[place + 1] / share;
    out[place + 2] = sums[place + 2] / share;
    out[place + 3] = Math.min(1, share) * 255;
  }
  return out;
}

/**
 * @typedef {object} LinesJob
 * @property {"lines"} kind
 * @property {number} width
 * @property {number} height
 * @property {Float32Array} x0  Where each bundle of lines begins.
 * @property {Float32Array} y0
 * @property {Float32Array} x1  Where it ends, to the right of x0.
 * @property {Float32Array} y1
 * @property {Float32Array} weights  The number of lines in the bundle.
 * @property {Float32Array} shades   Their mean shade, 0 to 1; NaN for none (the first colour).
 * @property {[number, number, number][]} colours  From shade 0 to shade 1.
 * @property {number} opacity  Of the densest pixel.
 */

/**
 * Adds bundles of lines up to a density: opacity grows with the logarithm of the number of lines through a
 * pixel, the colour is their mean shade.
 * @param {LinesJob} job
 * @returns {Generator<void, Uint8ClampedArray>}
 */
function* lines({ width, height, x0, y0, x1, y1, weights, shades, colours, opacity }) {
  const sums = new Float32Array(width * height);
  const tones = new Float32Array(width * height);
  for (let i = 0; i < x0.length; i++) {
    if (i % 512 === 511) yield;
    const weight = weights[i];
    if (!(weight > 0) || !(y0[i] + y1[i] - (y0[i] + y1[i]) === 0)) continue;
    const tone = weight * (shades[i] >= 0 ? shades[i] : 0);
    const slope = (y1[i] - y0[i]) / (x1[i] - x0[i]);
    const end = Math.min(width, Math.round(x1[i]));
    for (let column = Math.max(0, Math.round(x0[i])); column < end; column++) {
      const at = y0[i] + (column + 0.5 - x0[i]) * slope - 0.5;
      const row = Math.floor(at);
      if (row < 0 || row + 1 >= height) continue;
      const share = at - row;
      const place = row * width + column;
      sums[place] += weight * (1 - share);
      tones[place] += tone * (1 - share);
      sums[place + width] += weight * share;
      tones[place + width] += tone * share;
    }
  }
  yield;
  let most = 0;
  for (let i = 0; i < sums.length; i++) if (sums[i] > most) most = sums[i];
  const out = new Uint8ClampedArray(4 * sums.length);
  const scale = most > 0 ? 1 / Math.log1p(most) : 0;
  const last = colours.length - 1;
  for (let i = 0, place = 0; i < sums.length; i++, place += 4) {
    if (!(sums[i] > 0)) continue;
    const rgb = colours[Math.min(last, Math.floor((tones[i] / sums[i]) * (last + 1)))];
    out[place] = rgb[0];
    out[place + 1] = rgb[1];
    out[place + 2] = rgb[2];
    out[place + 3] = 255 * opacity * (Math.log1p(sums[i]) * scale) ** 1.5;
  }
  return out;
}

/** @typedef {PointsJob | BarsJob | LinesJob} Job */

/**
 * @param {Job} job
 * @returns {Generator<void, Uint8ClampedArray>}
 */
export function painting(job) {
  if (job.kind === "points") return points(job);
  return job.kind === "bars" ? bars(job) : lines(job);
}
