// Lets `node --test` import the page's modules: bare names are the vendored files, as in the bundle, and
// everything below web/ is a module though no package.json says so.
import { register } from "node:module";

const hooks = `
const WEB = new URL(${JSON.stringify(new URL("../../../src/overtone/ui/web/", import.meta.url).href)}).href;
const VENDORED = {
  "preact": "preact.js",
  "preact/hooks": "hooks.js",
  "@preact/signals": "signals.js",
  "@preact/signals-core": "signals-core.js",
  "htm": "htm.js",
  "uplot": "uplot.js",
};

export async function resolve(name, context, next) {
  const file = VENDORED[name];
  const found = file ? { url: WEB + "vendor/" + file, shortCircuit: true } : await next(name, context);
  return found.url.startsWith(WEB) ? { ...found, format: "module" } : found;
}
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
