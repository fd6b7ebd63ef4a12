/** The entry of the notebook's widget: views of one run in a shadow root, so that nothing leaks into the page. */
import { html, render as draw } from "./html.js";
import { modelSource } from "./data/notebook.js";
import { openExperiment } from "./data/session.js";
import { hostTheme } from "./report/host_theme.js";
import { addReportTexts } from "./i18n/report.js";
import { parse } from "./router.js";
import { address, route, source } from "./state.js";
import { WidgetApp } from "./report/widget_app.js";

/** @type {any} The model that this module's signals are about. */
let shown = null;

/**
 * @param {{model: import("./data/notebook.js").Model, el: HTMLElement, style: string}} given
 * @returns {() => void} Takes the display away.
 */
export function render({ model, el, style }) {
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  const place = document.createElement("div");
  place.className = "widget";
  root.append(place);
  el.append(host, hideStill(model.get("still")));
  root.addEventListener("click", followLink);
  for (const kind of ["keydown", "keypress", "keyup"]) {
    root.addEventListener(kind, (event) => event.stopPropagation()); // "d d" in a field deletes no cell
  }
  const forget = hostTheme(place);
  begin(model);
  draw(html`<${WidgetApp} />`, place);
  return () => {
    forget();
    draw(null, place);
    el.replaceChildren();
  };
}

/** @param {string} name Of still pictures @returns {HTMLElement} Hides them in the notebook while it is there. */
function hideStill(name) {
  const style = document.createElement("style");
  style.textContent = `[data-overtone-still="${CSS.escape(name ?? "")}"] { display: none }`;
  return style;
}

/** @param {import("./data/notebook.js").Model} model */
function begin(model) {
  addReportTexts();
  if (shown === model) return; // a second display of the same run
  shown = model;
  const show = (/** @type {string} */ hash) => {
    route.value = parse(hash);
  };
  address.open = show; // the address is the notebook's
  address.replace = show;
  const name = model.get("name");
  source.value = modelSource(model);
  route.value = { view: "overview", experiment: name, trial: "", query: {} };
  openExperiment(name);
}

/** Follow a link to a view within the widget. @param {Event} event */
function followLink(event) {
  const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement);
  const target = link instanceof HTMLAnchorElement ? link.getAttribute("href") ?? "" : "";
  if (!target.startsWith("#/")) return;
  event.preventDefault();
  address.open(target);
}
