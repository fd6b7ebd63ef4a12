/** What becomes of a run whose driver was killed from the page. */

/**
 * @typedef {{phase: "none" | "asked" | "killed" | "resumed" | "refused", pid: number, records: number,
 *   results: number, at: number, tookS: number, newPid: number, error: string}} Kill
 */

/** @type {Kill} */
export const NONE = { phase: "none", pid: 0, records: 0, results: 0, at: 0, tookS: 0, newPid: 0, error: "" };

/**
 * @param {any} overview The overview when the button was pressed.
 * @param {number} records The last record that the page has.
 * @param {number} now In seconds.
 * @returns {Kill}
 */
export function asked(overview, records, now) {
  return {
    ...NONE,
    phase: "asked",
    pid: overview.driver?.pid ?? 0,
    records: Math.max(records, overview.n ?? 0),
    results: overview.results ?? 0,
    at: now,
  };
}

/**
 * Return what a new overview says of a kill: nobody drives, or another process does and has every record.
 *
 * @param {Kill} kill
 * @param {any} overview
 * @param {number} now In seconds.
 * @returns {Kill} The same object if nothing changed.
 */
export function followed(kill, overview, now) {
  if (kill.phase !== "asked" && kill.phase !== "killed") return kill;
  const pid = overview?.driver?.pid ?? 0;
  if (!pid) return kill.phase === "killed" ? kill : { ...kill, phase: "killed", at: now };
  if (pid === kill.pid) return kill;
  const hasAll = overview.n > kill.records && overview.results >= kill.results;
  return hasAll ? { ...kill, phase: "resumed", newPid: pid, tookS: Math.max(0, now - kill.at) } : kill;
}
