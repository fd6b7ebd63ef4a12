/** The entry of the report: the page without a server, over the answers in the document. */
import { effect, html, render } from "./html.js";
import { App } from "./app.js";
import { embeddedSource } from "./data/embedded.js";
import { openExperiment } from "./data/session.js";
import { t } from "./i18n.js";
import { addReportTexts } from "./i18n/report.js";
import { ReportOverview } from "./report/overview.js";
import { parse } from "./router.js";
import { isDark, lang, me, route, source } from "./state.js";
import { followFilter } from "./tables/filter/live.js";
import { views } from "./views/index.js";

const page = document.documentElement;

/** Show the live page in place of the still one. @param {boolean} isLive */
function show(isLive) {
  page.classList.toggle("is-live", isLive);
  for (const [id, isOn] of /** @type {[string, boolean][]} */ ([["live-style", isLive], ["still-style", !isLive]])) {
    const style = document.getElementById(id);
    if (style instanceof HTMLStyleElement) style.media = isOn ? "all" : "not all";
  }
}

async function start() {
  addReportTexts();
  const data = embeddedSource(document, t);
  const { experiments } = await data.experiments();
  me.value = await data.me();
  views.overview = ReportOverview;
  source.value = data;
  const first = () => (experiments.length === 1 ? `#/e/${encodeURIComponent(experiments[0].id)}/overview` : "#/");
  const follow = () => {
    route.value = parse(location.hash.length > 2 ? location.hash : first());
  };
  follow();
  addEventListener("hashchange", follow);
  effect(() => {
    page.dataset.theme = isDark.value ? "dark" : "light";
    page.lang = lang.value === "zh" ? "zh-CN" : "en";
  });
  followFilter();
  render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
  effect(() => void openExperiment(route.value.experiment));
}

if (typeof DecompressionStream === "function") {
  show(true);
  start().catch((error) => {
    show(false); // the still page has the same numbers
    throw error;
  });
}
