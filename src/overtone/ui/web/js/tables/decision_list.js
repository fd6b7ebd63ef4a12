/** Decisions as they are listed: their kinds, and how pages of them are joined. */

/**
 * @typedef {{n: number, time: number, trial_id: string | null, row: number | null, kind: string, text: string,
 *   t: number | null, decision: string | null, rule: string | null, rung: number | null, who: string | null}} Decision
 */

export const KINDS = ["stop", "pause", "restart", "continue", "save", "ended", "waits", "asked", "note"];

/**
 * Returns what was decided: a word of `KINDS`.
 * @param {Pick<Decision, "kind" | "decision">} decision
 */
export function kindOf({ kind, decision }) {
  const word = kind === "ruled" ? (decision ?? "") : kind === "saved" ? "save" : kind;
  return KINDS.includes(word) ? word : "note";
}

/**
 * Joins a page with the decisions that are known; both are newest first.
 * @param {Decision[]} known
 * @param {Decision[]} page
 * @param {boolean} isNewest whether the page holds the newest decisions, otherwise it follows the known ones
 * @returns {{decisions: Decision[], isTouching: boolean}} without the known ones if decisions between are missing
 */
export function merged(known, page, isNewest) {
  if (!isNewest) {
    const oldest = known.at(-1)?.n ?? Infinity;
    return { decisions: [...known, ...page.filter(({ n }) => n < oldest)], isTouching: true };
  }
  const isTouching = known.length === 0 || page.some(({ n }) => n === known[0].n);
  if (!isTouching) return { decisions: page, isTouching };
  const oldest = page.at(-1)?.n ?? Infinity;
  return { decisions: [...page, ...known.filter(({ n }) => n < oldest)], isTouching };
}
