/** Light or dark, as the notebook around the widget is. */
import { theme } from "../state.js";

/**
 * Give an element the theme of the page around it, also when that changes.
 *
 * @param {HTMLElement} place
 * @returns {() => void} Stops it.
 */
export function hostTheme(place) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    theme.value = isDarkHost() ?? media.matches ? "dark" : "light";
    place.dataset.theme = theme.value;
  };
  const observer = new MutationObserver(apply);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributes: true, attributeFilter: ["class", "theme", "data-jp-theme-light", "data-theme"] });
  }
  media.addEventListener("change", apply);
  apply();
  return () => {
    observer.disconnect();
    media.removeEventListener("change", apply);
  };
}

/** @returns {boolean | null} null if the page does not say: JupyterLab, VS Code, Colab and marimo do. */
function isDarkHost() {
  const { documentElement: page, body } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (/\bvscode-(dark|high-contrast)\b/.test(body.className)) return !body.classList.contains("vscode-high-contrast-light");
  if (body.classList.contains("vscode-light")) return false;
  const named = page.getAttribute("theme") ?? page.dataset.theme ?? body.dataset.theme;
  if (named) return named === "dark";
  if (page.classList.contains("dark") || body.classList.contains("dark")) return true;
  return page.classList.contains("light") || body.classList.contains("light") ? false : null;
}
