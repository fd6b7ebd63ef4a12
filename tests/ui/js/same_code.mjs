// Reads pairs of scripts as JSON, { name: [script, other] }; fails if two are not the same code but for names.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "acorn";
// @ts-expect-error It has no types.
import { analyze } from "eslint-scope";

/** @param {string} text @returns {string} The syntax tree, with the variables numbered as they are declared. */
function tree(text) {
  const root = /** @type {any} */ (parse(text, { ecmaVersion: 2022, sourceType: "script", ranges: true }));
  const { scopes } = analyze(root, { ecmaVersion: 2022, sourceType: "script" });
  let number = 0;
  for (const scope of scopes) {
    if (scope.type === "global") continue; // names that other scripts use
    for (const variable of scope.variables) {
      const name = `variable ${number++}`;
      for (const node of [...variable.identifiers, ...variable.references.map((/** @type {any} */ reference) => reference.identifier)]) {
        /** @type {any} */ (node).name = name;
      }
    }
  }
  return JSON.stringify(root, (key, value) => {
    if (["start", "end", "range", "shorthand"].includes(key)) return undefined;
    if (!Array.isArray(value)) return typeof value === "bigint" ? String(value) : value;
    return value.flatMap((one) => // "const a = 1, b = 2" is "const a = 1; const b = 2"
      one?.type === "VariableDeclaration" ? one.declarations.map((/** @type {any} */ declared) => ({ ...one, declarations: [declared] })) : [one]);
  }, 1);
}

for (const [name, [script, other]] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  const [lines, others] = [tree(script).split("\n"), tree(other).split("\n")];
  const at = lines.findIndex((line, i) => line !== others[i]);
  const from = Math.max(at - 20, 0);
  if (at >= 0) assert.fail(`${name}:\n${lines.slice(from, at + 5).join("\n")}\n\nin the other script:\n${others.slice(from, at + 5).join("\n")}`);
  assert.equal(others.length, lines.length, name);
}
console.log("the same");
