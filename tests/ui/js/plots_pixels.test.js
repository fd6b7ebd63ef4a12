// Marks in pixels: against implementations that do the same without any care for time.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { painting } from "../../../src/overtone/ui/web/js/plots/pixels.js";
import { spriteOf } from "../../../src/overtone/ui/web/js/plots/sprites.js";

/** Numbers that are the same on every machine. @param {number} seed */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** @param {any} job @returns {Uint8ClampedArray} */
function painted(job) {
  const steps = painting(job);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** @param {ArrayBufferView} values */
const checksum = (values) => createHash("sha256").update(new Uint8Array(values.buffer)).digest("hex").slice(0, 16);

/** @param {any} job One pixel after the other, in floating point. */
function naivePoints({ width, height, x, y, codes, sprites }) {
  const out = new Float64Array(4 * width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const colour = [0, 0, 0, 0];
      sprites.forEach((/** @type {any} */ { size, mask, rgb }, /** @type {number} */ code) => {
        for (let i = 0; i < x.length; i++) {
          const [dx, dy] = [column - Math.round(x[i]) + (size >> 1), row - Math.round(y[i]) + (size >> 1)];
          if (codes[i] !== code || !(dx >= 0 && dx < size && dy >= 0 && dy < size)) continue;
          const alpha = mask[dy * size + dx] / 255;
          [0, 1, 2].forEach((k) => (colour[k] = rgb[k] * alpha + colour[k] * (1 - alpha)));
          colour[3] = 255 * alpha + colour[3] * (1 - alpha);
        }
      });
      for (let k = 0; k < 4; k++) out[4 * (row * width + column) + k] = k < 3 && colour[3] ? (colour[k] * 255) / colour[3] : colour[k];
    }
  }
  return out;
}

function pointsJob(n = 300, width = 60, height = 40) {
  const random = randomOf(7);
  const places = (/** @type {number} */ size) => Float32Array.from({ length: n }, () => random() * (size + 20) - 10);
  const x = places(width);
  const y = places(height);
  x[3] = NaN;
  y[5] = NaN;
  x[8] = Infinity;
  const codes = Uint8Array.from({ length: n }, () => Math.floor(random() * 4)); // 3 has no sprite
  const sprites = [spriteOf("ring", 7, 0.6, [10, 200, 30]), spriteOf("circle", 5, 1, [250, 20, 0]), spriteOf("cross", 9, 0.9, [0, 0, 255])];
  return { kind: "points", width, height, x, y, codes, sprites };
}

test("points are blended as a plain loop over the pixels blends them", () => {
  const job = pointsJob();
  const out = painted(job);
  const wanted = naivePoints(job);
  let most = 0;
  for (let i = 0; i < out.length; i++) {
    const isFaint = wanted[i - (i % 4) + 3] < 40; // few steps of colour are left in a faint pixel
    if (!isFaint) most = Math.max(most, Math.abs(out[i] - wanted[i]));
    else assert.ok(Math.abs(out[i - (i % 4) + 3] - wanted[i - (i % 4) + 3]) <= 2);
  }
  assert.ok(most <= 8, `a colour differs by ${most}`);
});

test("the picture of points stays as it is", () => {
  assert.equal(checksum(painted(pointsJob())), "c7cfa49ae03dbbcf");
});

test("bars share a pixel by their parts of it", () => {
  const job = {
    kind: "bars", width: 10, height: 4, thickness: 1,
    x0: Float32Array.of(1, 2.5, 0, NaN, -5), x1: Float32Array.of(2.5, 4, 0.2, 3, -4),
    y: Float32Array.of(0, 0, 2.5, 3, 3), codes: Uint8Array.of(0, 1, 0, 0, 9), colours: [[200, 0, 0], [0, 100, 0]],
  };
  const out = painted(job);
  const at = (/** @type {number} */ x, /** @type {number} */ y) => [...out.slice(4 * (y * 10 + x), 4 * (y * 10 + x) + 4)];
  assert.deepEqual(at(1, 0), [200, 0, 0, 255]);
  assert.deepEqual(at(2, 0), [100, 50, 0, 255]); // half of each
  assert.deepEqual(at(3, 0), [0, 100, 0, 255]);
  assert.deepEqual(at(4, 0), [0, 0, 0, 0]);
  assert.deepEqual(at(0, 2), [200, 0, 0, 128]); // at least a pixel wide, half of its height
  assert.deepEqual(at(0, 3), [200, 0, 0, 128]);
});

test("the density of lines is the number of lines in each column", () => {
  const n = 40;
  const random = randomOf(3);
  const job = {
    kind: "lines", width: 30, height: 20, x0: new Float32Array(n), x1: new Float32Array(n).fill(30),
    y0: Float32Array.from({ length: n }, () => 1 + random() * 17), y1: Float32Array.from({ length: n }, () => 1 + random() * 17),
    weights: Float32Array.from({ length: n }, () => 1 + Math.floor(random() * 50)), shades: Float32Array.from({ length: n }, () => random()),
    colours: [[0, 0, 0], [255, 255, 255]], opacity: 1,
  };
  job.y0[0] = NaN;
  const wanted = new Float64Array(600);
  for (let i = 1; i < n; i++) {
    for (let column = 0; column < 30; column++) {
      const y = job.y0[i] + ((job.y1[i] - job.y0[i]) * (column + 0.5)) / 30;
      for (let row = 0; row < 20; row++) wanted[row * 30 + column] += job.weights[i] * Math.max(0, 1 - Math.abs(y - row - 0.5));
    }
  }
  const out = painted(job);
  const most = Math.max(...wanted);
  for (let i = 0; i < 600; i++) {
    assert.ok(Math.abs(out[4 * i + 3] - 255 * (Math.log1p(wanted[i]) / Math.log1p(most)) ** 1.5) <= 1.5);
  }
  assert.equal(checksum(out), "e93d9f76b0f4d9d8");
});

test("nothing to draw is an empty picture", () => {
  const none = new Float32Array(0);
  const lines = { kind: "lines", width: 3, height: 2, x0: none, y0: none, x1: none, y1: none, weights: none, shades: none, colours: [[1, 2, 3]], opacity: 1 };
  assert.ok(painted(lines).every((value) => value === 0));
  assert.equal(painted({ kind: "points", width: 3, height: 2, x: none, y: none, codes: new Uint8Array(0), sprites: [] }).length, 24);
});
