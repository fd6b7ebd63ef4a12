// Writes each value of standard input (a JSON list of [kind, value as text]) as the page shows it.
import { readFileSync } from "node:fs";
import { duration, number, printable } from "../../../src/overtone/ui/web/js/format.js";

const lines = JSON.parse(readFileSync(0, "utf8")).map((/** @type {[string, string]} */ [kind, text]) => {
  if (kind === "text") return printable(text);
  const value = Number(text.replace("inf", "Infinity"));
  return kind === "duration" ? duration(value) : number(value, kind === "int");
});
process.stdout.write(JSON.stringify(lines));
