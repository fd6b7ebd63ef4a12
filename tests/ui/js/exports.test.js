// Every export of a module is used by another one, or by a test.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const WEB = fileURLToPath(new URL("../../../src/overtone/ui/web/js/", import.meta.url));
const TESTS = fileURLToPath(new URL("./", import.meta.url));
const ENTRIES = ["widget.js render"];

/** @param {string} folder @returns {string[]} */
const modules = (folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => /\.m?js$/.test(path));

/** @param {string} folder @param {string} path @param {string} from */
const target = (folder, path, from) => join(dirname(join(folder, path)), from).replace(WEB, "");

/** @param {string} folder @param {Set<string>} used "module name" */
function collectUses(folder, used) {
  for (const path of modules(folder)) {
    const text = readFileSync(join(folder, path), "utf8");
    for (const [, from, name] of text.matchAll(/import\("(\.[^"]+)"\)\.(\w+)/g)) used.add(`${target(folder, path, from)} ${name}`);
    for (const [, names, from] of text.matchAll(/^(?:import|export)\s*\{([^{}]*)\}\s*from\s*"(\.[^"]+)"/gm)) {
      for (const name of names.split(",")) used.add(`${target(folder, path, from)} ${name.split(" as ")[0].trim()}`);
    }
  }
}

test("no export is without a use", () => {
  const used = new Set(ENTRIES);
  collectUses(WEB, used);
  collectUses(TESTS, used);
  const unused = [];
  for (const path of modules(WEB)) {
    const text = readFileSync(join(WEB, path), "utf8");
    const names = [...text.matchAll(/^export (?:async )?(?:const|function\*?|class) ([\w$]+)/gm)].map(([, name]) => name);
    for (const [, list] of text.matchAll(/^export \{([^{}]*)\};/gm)) names.push(...list.split(",").map((one) => (one.split(" as ")[1] ?? one).trim()));
    for (const name of names) if (!used.has(`${path} ${name}`)) unused.push(`${path} ${name}`);
  }
  assert.deepEqual(unused, []);
});
