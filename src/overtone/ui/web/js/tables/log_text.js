/**
 * A line of a trial's output as pieces of text that cannot act: colours become classes, all other escape
 * sequences are dropped, and characters that reorder or hide text are spelled out.
 */

/** @typedef {{text: string, look: string}} Piece `look` is a list of class names */

const ESCAPE = /\x1b\[([0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[^]?|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const DECEPTIVE = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const MOST_PIECES = 500;
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** The characters of a line that are shown at first, and with each request for more. */
export const SHOWN_AT_ONCE = 4000;

/**
 * @param {string} line
 * @param {number} [most] characters of the line to show
 * @returns {{pieces: Piece[], hidden: number}} how many characters are left out
 */
export function piecesOf(line, most = SHOWN_AT_ONCE) {
  const final = lastOverwrite(line);
  const text = final.slice(0, most);
  /** @type {Piece[]} */
  const pieces = [];
  const style = { colour: "", ground: "", marks: new Set() };
  let at = 0;
  for (const match of text.matchAll(ESCAPE)) {
    if (match.index > at) pieces.push({ text: spelled(text.slice(at, match.index)), look: lookOf(style) });
    at = match.index + match[0].length;
    if (match[1] !== undefined) restyle(style, match[1]);
    if (pieces.length >= MOST_PIECES) break;
  }
  const rest = pieces.length >= MOST_PIECES ? text.slice(at).replace(ESCAPE, "") : text.slice(at);
  if (rest) pieces.push({ text: spelled(rest), look: lookOf(style) });
  return { pieces, hidden: final.length - text.length };
}

/**
 * Returns a line as it can be searched: what `piecesOf` shows of it, without colours.
 * @param {string} line
 */
export function plainText(line) {
  return spelled(lastOverwrite(line).replace(ESCAPE, ""));
}

/** @param {string} line of which a progress bar overwrote the beginning */
function lastOverwrite(line) {
  const end = line.endsWith("\r") ? line.length - 1 : line.length;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}

/** @param {string} text */
function spelled(text) {
  return text.replace(DECEPTIVE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * @param {{colour: string, ground: string, marks: Set<string>}} style
 * @param {string} codes such as "1;31"
 */
function restyle(style, codes) {
  const numbers = codes.split(/[;:]/).map(Number);
  for (let i = 0; i < numbers.length; i += 1) {
    const code = numbers[i];
    if (code === 0) {
      style.colour = style.ground = "";
      style.marks.clear();
    } else if (code === 1 || code === 2 || code === 3 || code === 4) {
      style.marks.add(["bold", "dim", "italic", "underlined"][code - 1]);
    } else if (code >= 22 && code <= 24) {
      for (const mark of [["bold", "dim"], ["italic"], ["underlined"]][code - 22]) style.marks.delete(mark);
    } else if (code === 38 || code === 48) {
      const colour = numbers[i + 1] === 5 && numbers[i + 2] < 16 ? NAMES[numbers[i + 2] % 8] : "";
      if (code === 38) style.colour = colour;
      else style.ground = colour;
      i += numbers[i + 1] === 5 ? 2 : 4;
    } else if (code === 39) style.colour = "";
    else if (code === 49) style.ground = "";
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) style.colour = NAMES[code % 10];
    else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) style.ground = NAMES[code % 10];
  }
}

/** @param {{colour: string, ground: string, marks: Set<string>}} style */
function lookOf({ colour, ground, marks }) {
  const names = [...marks].map((mark) => `log-${mark}`);
  if (colour) names.push(`log-${colour}`);
  if (ground) names.push(`log-on-${ground}`);
  return names.join(" ");
}
