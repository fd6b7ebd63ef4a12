/** A trial's or an experiment's state: a shape, a colour and a word. */
import { html } from "../html.js";
import { t } from "../i18n.js";

/** Shapes of 10 x 10 px: states differ without colours too. */
const SHAPES = {
  disc: "M5 0a5 5 0 1 0 0 10a5 5 0 1 0 0 -10z",
  play: "M1 0L10 5L1 10z",
  pause: "M1 0h3v10h-3zM6 0h3v10h-3z",
  ring: "M5 0a5 5 0 1 0 0 10a5 5 0 1 0 0 -10zM5 2a3 3 0 1 1 0 6a3 3 0 1 1 0 -6z",
  square: "M0.5 0.5h9v9h-9z",
  cross: "M0 2L2 0L5 3L8 0L10 2L7 5L10 8L8 10L5 7L2 10L0 8L3 5z",
  half: "M5 0a5 5 0 1 0 0 10zM6 0.5v9a4.6 4.6 0 0 0 0 -9z",
  bar: "M0 3.5h10v3h-10z",
};

/** @type {Record<string, {role: string, shape: keyof typeof SHAPES}>} By word of a trial or an experiment. */
const LOOKS = {
  PENDING: { role: "pending", shape: "ring" },
  STARTING: { role: "running", shape: "play" },
  RUNNING: { role: "running", shape: "play" },
  HALTING: { role: "running", shape: "play" },
  PAUSED: { role: "paused", shape: "pause" },
  PARKED: { role: "paused", shape: "pause" },
  TERMINATED: { role: "completed", shape: "disc" },
  STOPPED: { role: "stopped", shape: "square" },
  ERROR: { role: "failed", shape: "cross" },
  INTERRUPTED: { role: "stopped", shape: "half" },
  running: { role: "running", shape: "play" },
  stopping: { role: "running", shape: "half" },
  finished: { role: "completed", shape: "disc" },
  interrupted: { role: "stopped", shape: "half" },
  crashed: { role: "failed", shape: "cross" },
  damaged: { role: "failed", shape: "bar" },
};

/**
 * The shape alone, for lists where the word stands elsewhere.
 * @param {{state: string}} props
 */
export function StateMark({ state }) {
  const { role, shape } = LOOKS[state] ?? { role: "stopped", shape: "ring" };
  return html`<svg class=${`mark mark-${role}`} viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
    <path fill-rule="evenodd" d=${SHAPES[shape]} /></svg>`;
}

/**
 * @param {{state: string, text?: string}} props `state` is a word of Status, "STOPPED" for a trial that was
 *   ended early, or an experiment's state.
 */
export function Badge({ state, text }) {
  return html`<span class="badge"><${StateMark} state=${state} />${text ?? stateWord(state)}</span>`;
}

/** @param {string} state */
function stateWord(state) {
  return state in LOOKS ? t(`shell.state_${state}`) : state;
}
