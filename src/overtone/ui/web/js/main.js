/** The entry of the page that a server shows. */
import { effect, html, render } from "./html.js";
import { App } from "./app.js";
import { askForLogin, followVisibility, openExperiment } from "./data/session.js";
import { httpSource } from "./data/source.js";
import { t } from "./i18n.js";
import { fetchPart } from "./parts.js";
import { startWorker } from "./plots/painter.js";
import { parse } from "./router.js";
import { followFilter } from "./tables/filter/live.js";
import { toast } from "./ui/toasts.js";
import { failure, isDark, lang, me, overview, route, source } from "./state.js";

const page = document.documentElement;
const server = httpSource("");

effect(() => {
  page.dataset.theme = isDark.value ? "dark" : "light";
  page.lang = lang.value === "zh" ? "zh-CN" : "en";
  if (lang.value !== "en") fetchPart(`${lang.value}.js`).catch(() => toast({ kind: "failed", text: t("shell.error_unreached") }));
});

/** @returns {string} The token in the address's fragment, which is taken away at once. */
function takeToken() {
  const values = new URLSearchParams(location.hash.replace(/^#\/?/, ""));
  const token = values.get("token") ?? "";
  if (token) history.replaceState(null, "", `#${values.get("next") ?? "/"}`);
  return token;
}

async function start() {
  startWorker("worker.js");
  const token = takeToken();
  if (token) {
    await server.login(token).catch(() => {}); // an answer without a login says so, and an older login may hold
  }
  route.value = parse(location.hash);
  source.value = server;
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#token=")) location.reload();
    else route.value = parse(location.hash);
  });
  followVisibility();
  followFilter();
  effect(() => void openExperiment(route.value.experiment));
  if (lang.value !== "en") await fetchPart(`${lang.value}.js`).catch(() => {}); // English is there
  render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
  const stop = effect(() => {
    if (!overview.value && !failure.value && route.value.experiment) return; // what is shown first comes first
    queueMicrotask(() => stop());
    server.me().then((answer) => (me.value = answer), (error) => error.status === 401 && askForLogin());
  });
}

start();
