/** Which trials ran at the same time: a slot for each, by node. */

import { rowsByValue } from "./bins.js";

/**
 * @typedef {object} Slots
 * @property {Int32Array} lane      Of each trial; -1 for one that has not started.
 * @property {{node: number, first: number, n: number}[]} nodes  The lanes of each node (its code; -1: unknown).
 * @property {Int32Array[]} rows    The trials of each lane, by their start.
 */

/**
 * Gives each trial the lowest slot of its node that is free when it starts.
 * @param {ArrayLike<number>} started  Seconds; NaN if it has not started.
 * @param {ArrayLike<number>} ended    Seconds, not before `started`.
 * @param {ArrayLike<number> | null} nodes  Codes.
 * @returns {Slots}
 */
export function slotsOf(started, ended, nodes) {
  const n = started.length;
  const begin = new Float64Array(started);
  const order = rowsByValue(begin, false);
  /** @type {Map<number, {busy: Heap, free: Heap, n: number}>} */
  const machines = new Map();
  const slot = new Int32Array(n).fill(-1);
  for (const row of order) {
    const node = nodes ? nodes[row] : -1;
    let machine = machines.get(node);
    if (!machine) machines.set(node, (machine = { busy: new Heap(), free: new Heap(), n: 0 }));
    const { busy, free } = machine;
    while (busy.size && busy.least <= begin[row]) {
      const place = busy.pop();
      free.push(place, place);
    }
    slot[row] = free.size ? free.pop() : machine.n++;
    busy.push(ended[row], slot[row]);
  }
  let first = 0;
  const found = [...machines.keys()].sort((a, b) => a - b).map((node) => {
    const lanes = /** @type {{n: number}} */ (machines.get(node)).n;
    first += lanes;
    return { node, first: first - lanes, n: lanes };
  });
  const firsts = new Map(found.map((one) => [one.node, one.first]));
  const counts = new Int32Array(first);
  for (const row of order) {
    slot[row] += /** @type {number} */ (firsts.get(nodes ? nodes[row] : -1));
    counts[slot[row]]++;
  }
  const rows = Array.from(counts, (count) => new Int32Array(count));
  counts.fill(0);
  for (const row of order) rows[slot[row]][counts[slot[row]]++] = row;
  return { lane: slot, nodes: found, rows };
}

/** Values by their keys, the least key first. */
class Heap {
  constructor() {
    /** @type {number[]} */
    this.keys = [];
    /** @type {number[]} */
    this.values = [];
  }

  get size() {
    return this.keys.length;
  }

  get least() {
    return this.keys[0];
  }

  /** @param {number} key @param {number} value */
  push(key, value) {
    let at = this.keys.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.keys[above] <= key) break;
      this.keys[at] = this.keys[above];
      this.values[at] = this.values[above];
      at = above;
    }
    this.keys[at] = key;
    this.values[at] = value;
  }

  /** @returns {number} */
  pop() {
    const top = this.values[0];
    const key = /** @type {number} */ (this.keys.pop());
    const value = /** @type {number} */ (this.values.pop());
    const n = this.keys.length;
    if (!n) return top;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= n) break;
      if (below + 1 < n && this.keys[below + 1] < this.keys[below]) below++;
      if (this.keys[below] >= key) break;
      this.keys[at] = this.keys[below];
      this.values[at] = this.values[below];
      at = below;
    }
    this.keys[at] = key;
    this.values[at] = value;
    return top;
  }
}
