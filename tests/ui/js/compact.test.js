// What a browser is sent is the modules' code without comments and indentation.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const WEB = fileURLToPath(new URL("../../../src/overtone/ui/web/js/", import.meta.url));
const TSC = fileURLToPath(new URL("../node_modules/.bin/tsc", import.meta.url));
const PYTHON = process.env.PYTHON ?? "python3";
const SRC = fileURLToPath(new URL("../../../src/overtone/ui/", import.meta.url));

/** @param {string[]} texts @returns {string[]} */
function compact(texts) {
  const code = "import json, sys; from compact import compact; json.dump([compact(t) for t in json.load(sys.stdin)], sys.stdout)";
  return JSON.parse(execFileSync(PYTHON, ["-c", code], { cwd: SRC, input: JSON.stringify(texts), encoding: "utf8", maxBuffer: 1 << 26 }));
}

/** @param {string} folder @returns {string[]} The code of the modules in a folder as the type checker prints it. */
function printed(folder) {
  const out = join(folder, "printed");
  execFileSync(TSC, ["--allowJs", "--noCheck", "--noResolve", "--ignoreConfig", "--removeComments", "--target", "esnext", "--module", "esnext", "--rootDir", folder,
    "--outDir", out, ...readdirSync(folder).map((name) => join(folder, name))], { encoding: "utf8" });
  return readdirSync(out).map((name) => readFileSync(join(out, name), "utf8").replace(/^[ \t]+|\n(?=\n)/gm, ""));
}

test("every module is the same code, line by line", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "compact-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const paths = readdirSync(WEB, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".js"));
  const texts = paths.map((path) => readFileSync(WEB + path, "utf8"));
  assert.ok(paths.length > 100);
  const [before, after] = [texts, compact(texts)].map((modules, i) => {
    const place = join(folder, String(i));
    mkdirSync(place);
    modules.forEach((text, number) => writeFileSync(join(place, `${number}.js`), text));
    return printed(place);
  });
  assert.equal(before.length, paths.length);
  before.forEach((text, i) => assert.equal(after[i], text, paths[i]));
  compact(texts).forEach((text, i) => {
    assert.equal(text.split("\n").length, texts[i].split("\n").length, paths[i]);
    assert.doesNotMatch(text, /^[ \t]*(\/\*\*|\*|\/\/)/m, paths[i]);
  });
});

const CASES = [
  ["a = 1; // one\n  b = 2;", "a=1;\nb=2;"],
  ["f(a /* x */ / 2 / b)", "f(a/2/b)"],
  ["x = y.replace(/[/\"`]\\//g, '// no comment')", "x=y.replace(/[/\"`]\\//g,'// no comment')"],
  ["return /a b/.test(c) ? a + +b : a - -b", "return/a b/.test(c)?a+ +b:a- -b"],
  ["`a  ${b + `c  ${{ d: 1 }.d} // no` }  /* no */`", "`a  ${b+`c  ${{d:1}.d} // no`}  /* no */`"],
  ["html`<p>\n    a  ${f(`\n   b`)}\n    c</p>`", "html`<p>\na  ${f(`\n   b`)}\nc</p>`"],
  ["xhtml`\n  a`", "xhtml`\n  a`"],
  ["/* two\nlines */ a\n\n++b", "\na\n\n++b"],
  ["a = b / /c d/.exec(e)", "a=b/ /c d/.exec(e)"],
  ["const of = 4 in { 'a b': 1 }", "const of=4 in{'a b':1}"],
  ["'it\\'s' + \"\\\"//\"", "'it\\'s'+\"\\\"//\""],
  ["`\\`${1}\\${`", "`\\`${1}\\${`"],
];

test("strings, templates and regular expressions stay", () => {
  assert.deepEqual(compact(CASES.map(([text]) => text)), CASES.map(([, text]) => text));
});
