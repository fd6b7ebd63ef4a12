// The types that tsc reads are those of the vendored versions.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

const VENDOR = new URL("../../../src/overtone/ui/web/vendor/vendor.json", import.meta.url);

test("the vendored versions are those in package.json", { skip: !existsSync(VENDOR) }, () => {
  const wanted = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).devDependencies;
  const text = readFileSync(VENDOR, "utf8");
  for (const name of ["preact", "@preact/signals", "htm", "uplot"]) {
    assert.ok(text.includes(wanted[name]), `${name} ${wanted[name]} is not in vendor.json`);
  }
});
