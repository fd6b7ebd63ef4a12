/**
 * Parses a filter expression:
 *
 *     either  = both {"or" both}
 *     both    = inverse {"and" inverse}
 *     inverse = "not" inverse | "(" either ")" | condition
 *     condition = operand {("<" | "<=" | ">" | ">=" | "==" | "!=") operand}
 *               | operand ["not"] "in" "(" operand {"," operand} ")"
 *               | operand ("~" | "!~" | ["not"] "contains") operand
 *               | operand "is" ["not"] operand
 *     operand = number | word | "text" | `name` | ("best" | "min" | "max" | "last") "(" word ")"
 */

import { FilterError } from "./filter_error.js";
import { tokenise } from "./tokens.js";

/** @typedef {import("./tokens.js").Token} Token */

/**
 * @typedef {object} Operand
 * @property {"number" | "word" | "text" | "name"} kind
 * @property {string} text
 * @property {number} value
 * @property {"" | "best" | "min" | "max" | "last"} part of a metric
 * @property {number} start
 * @property {number} end
 */

/**
 * @typedef {{type: "and" | "or", parts: Node[]}
 *   | {type: "not", part: Node}
 *   | {type: "compare", operands: Operand[], operators: string[]}
 *   | {type: "in", operand: Operand, choices: Operand[]}
 *   | {type: "contains", operand: Operand, text: Operand}
 *   | {type: "truth", operand: Operand}} Node
 */

const DEEPEST = 40;

const COMPARISONS = new Set(["<", "<=", ">", ">=", "==", "!="]);
const PARTS = new Set(["best", "min", "max", "last"]);

/**
 * @param {string} text
 * @returns {Node | null} null for an empty expression, which every trial satisfies
 */
export function parse(text) {
  const tokens = tokenise(text);
  if (tokens.length === 1) return null;
  const parser = new Parser(tokens);
  const node = parser.either(0);
  if (parser.next.kind !== "end") {
    throw new FilterError(parser.next.text === ")" ? "extra_parenthesis" : "expected_and", parser.next, found(parser.next));
  }
  return node;
}

class Parser {
  /** @param {Token[]} tokens */
  constructor(tokens) {
    this.tokens = tokens;
    this.at = 0;
  }

  get next() {
    return this.tokens[this.at];
  }

  /**
   * Takes the next token if it is this operator.
   * @param {string} text
   */
  took(text) {
    const isIt = this.next.kind === "operator" && this.next.text === text;
    if (isIt) this.at += 1;
    return isIt;
  }

  /**
   * @param {number} depth
   * @returns {Node}
   */
  either(depth) {
    const parts = [this.both(depth)];
    while (this.took("or")) parts.push(this.both(depth));
    return parts.length === 1 ? parts[0] : { type: "or", parts };
  }

  /**
   * @param {number} depth
   * @returns {Node}
   */
  both(depth) {
    const parts = [this.inverse(depth)];
    while (this.took("and")) parts.push(this.inverse(depth));
    return parts.length === 1 ? parts[0] : { type: "and", parts };
  }

  /**
   * @param {number} depth
   * @returns {Node}
   */
  inverse(depth) {
    if (depth > DEEPEST) throw new FilterError("too_deep", this.next, { most: DEEPEST });
    if (this.took("not")) return { type: "not", part: this.inverse(depth + 1) };
    const open = this.next;
    if (!this.took("(")) return this.condition();
    const node = this.either(depth + 1);
    if (!this.took(")")) this.refuse("open_parenthesis", open);
    return node;
  }

  /** @returns {Node} */
  condition() {
    const operand = this.operand("expected_condition");
    if (this.took("is")) {
      const isInverse = this.took("not");
      return { type: "compare", operands: [operand, this.operand("expected_value")], operators: [isInverse ? "!=" : "=="] };
    }
    const isInverse = this.took("not");
    if (this.took("in")) return inverted(isInverse, { type: "in", operand, choices: this.choices() });
    if (this.took("contains")) return inverted(isInverse, { type: "contains", operand, text: this.operand("expected_text") });
    if (isInverse) this.refuse("expected_in", this.next);
    if (this.took("~")) return { type: "contains", operand, text: this.operand("expected_text") };
    if (this.took("!~")) return inverted(true, { type: "contains", operand, text: this.operand("expected_text") });
    return this.chain(operand);
  }

  /**
   * @param {Operand} first
   * @returns {Node}
   */
  chain(first) {
    const operands = [first];
    /** @type {string[]} */
    const operators = [];
    while (this.next.kind === "operator" && COMPARISONS.has(this.next.text)) {
      operators.push(this.next.text);
      this.at += 1;
      operands.push(this.operand("expected_value"));
    }
    return operators.length ? { type: "compare", operands, operators } : { type: "truth", operand: first };
  }

  choices() {
    const open = this.next;
    if (!this.took("(")) this.refuse("expected_list", open);
    const choices = [this.operand("expected_value")];
    while (this.took(",")) choices.push(this.operand("expected_value"));
    if (!this.took(")")) this.refuse("open_list", this.next.kind === "end" ? open : this.next);
    return choices;
  }

  /**
   * @param {string} expected key of the error if there is no operand
   * @returns {Operand}
   */
  operand(expected) {
    const { kind, text, value, start, end } = this.next;
    if (kind === "operator" || kind === "end") this.refuse(expected, this.next);
    const after = this.tokens[this.at + 1];
    if (kind === "word" && PARTS.has(text.toLowerCase()) && after.kind === "operator" && after.text === "(") {
      return this.partOfMetric(/** @type {"best"} */ (text.toLowerCase()), start);
    }
    this.at += 1;
    return { kind: /** @type {Operand["kind"]} */ (kind), text, value, part: "", start, end };
  }

  /**
   * @param {"best" | "min" | "max" | "last"} part
   * @param {number} start
   * @returns {Operand}
   */
  partOfMetric(part, start) {
    this.at += 2;
    const metric = this.next;
    if (metric.kind === "operator" || metric.kind === "end" || metric.kind === "number") this.refuse("expected_metric", metric);
    this.at += 1;
    const end = this.next.end;
    if (!this.took(")")) this.refuse("open_parenthesis", metric);
    return { kind: "name", text: metric.text, value: 0, part, start, end };
  }

  /**
   * @param {string} key
   * @param {{start: number, end: number}} place
   * @returns {never}
   */
  refuse(key, place) {
    throw new FilterError(key, place, found(this.next));
  }
}

/** @param {Token} token */
function found(token) {
  return { found: token.text };
}

/**
 * @param {boolean} isInverse
 * @param {Node} node
 * @returns {Node}
 */
function inverted(isInverse, node) {
  return isInverse ? { type: "not", part: node } : node;
}
