/** How many trials are in each state. */

/**
 * @typedef {"completed" | "stopped" | "failed" | "running" | "paused" | "pending" | "interrupted"} StateName
 */

/** In the order in which they are shown: what has ended, what runs, what waits. */
/** @type {readonly StateName[]} */
export const STATES = ["completed", "stopped", "failed", "interrupted", "running", "paused", "pending"];

/** @type {Record<StateName, string>} The badge of each state. */
export const BADGES = {
  completed: "TERMINATED", stopped: "STOPPED", failed: "ERROR", interrupted: "INTERRUPTED", running: "RUNNING", paused: "PAUSED",
  pending: "PENDING",
};

/**
 * @param {import("./table.js").Table} table
 * @param {boolean} hasDriver Without a driver nothing runs.
 * @returns {Record<StateName, number>}
 */
export function stateCounts(table, hasDriver) {
  const counts = { completed: 0, stopped: 0, failed: 0, interrupted: 0, running: 0, paused: 0, pending: 0 };
  const status = table.column("fact:status");
  const end = table.column("fact:end");
  if (!status?.levels) return counts;
  const names = status.levels.map((word) => nameOf(word, hasDriver));
  const isFinished = (end?.levels ?? []).map((word) => word === "finished");
  for (let row = 0; row < table.length; row++) {
    let name = names[status.values[row]];
    if (name === "completed" && end && end.values[row] >= 0 && !isFinished[end.values[row]]) name = "stopped";
    if (name) counts[name]++;
  }
  return counts;
}

/**
 * @param {string} word Of Status, or as it is shown.
 * @param {boolean} hasDriver
 * @returns {StateName}
 */
function nameOf(word, hasDriver) {
  if (word === "TERMINATED") return "completed";
  if (word === "ERROR") return "failed";
  if (word === "PAUSED" || word === "PARKED") return "paused";
  if (word === "INTERRUPTED") return "interrupted";
  if (word === "PENDING") return "pending";
  return hasDriver ? "running" : "interrupted";
}

/**
 * Return counts by state out of the counts by word that a listing has: it does not know which were stopped.
 *
 * @param {Record<string, number>} statuses
 * @param {boolean} hasDriver
 */
export function countsOf(statuses, hasDriver) {
  const counts = { completed: 0, stopped: 0, failed: 0, interrupted: 0, running: 0, paused: 0, pending: 0 };
  for (const [word, n] of Object.entries(statuses ?? {})) counts[nameOf(word, hasDriver)] += n;
  return counts;
}
