/** The list of views on the left, or behind a button where the window is narrow. */
import { html } from "../html.js";
import { t } from "../i18n.js";
import { VIEWS } from "../router.js";
import { experiment, lang, link, me, overview, readOnly, route, setLang, setTheme, theme } from "../state.js";
import { StateMark } from "./badge.js";
import { Button } from "./button.js";

/** The views by what they answer. */
const GROUPS = [
  { name: "nav_run", views: ["overview", "trials", "decisions", "machines"] },
  { name: "nav_why", views: ["history", "parallel", "importance", "relations"] },
  { name: "nav_time", views: ["timeline", "rungs", "compare"] },
];

/** @param {{isOpen: boolean, onToggle: () => void}} props */
export function ViewNavigation({ isOpen, onToggle }) {
  const { experiment: id, view } = route.value;
  return html`<header class="side">
    <div class="side-bar">
      <a class="brand" href="#/" title=${t("shell.view_experiments")}><${Logo} />Overtone</a>
      <div class="side-toggle"><${Button} kind="quiet" label=${t("shell.menu")} isExpanded=${isOpen} onClick=${onToggle} /></div>
    </div>
    <nav class="nav" aria-label=${t("shell.navigation")}>
      <a class="nav-link" href="#/" aria-current=${view === "experiments" ? "page" : undefined}>${t("shell.view_experiments")}</a>
      ${id && html`
        <p class="nav-experiment" title=${overview.value?.path ?? experiment.value}>
          ${overview.value && html`<${StateMark} state=${overview.value.state} />`}<span class="cut">${overview.value?.name ?? id}</span></p>
        ${GROUPS.map((group) => html`<ul class="nav-group" aria-label=${t(`shell.${group.name}`)}>
          ${group.views.map((name) => html`<li key=${name}><a class="nav-link" href=${link(name)}
            aria-current=${view === name || (name === "trials" && view === "trial") ? "page" : undefined}>${t(`shell.view_${name}`)}</a></li>`)}
        </ul>`)}`}
    </nav>
    <div class="side-foot">
      ${readOnly.value && html`<p class="faint" title=${t("shell.read_only_why")}>${t("shell.read_only")}</p>`}
      <label class="choice">${t("shell.theme")}
        <select value=${theme.value} onChange=${(/** @type {any} */ event) => setTheme(event.target.value)}>
          ${["system", "light", "dark"].map((name) => html`<option value=${name}>${t(`shell.theme_${name}`)}</option>`)}
        </select></label>
      <label class="choice">${t("shell.language")}
        <select value=${lang.value} onChange=${(/** @type {any} */ event) => setLang(event.target.value)}>
          <option value="en" lang="en">English</option><option value="zh" lang="zh-CN">简体中文</option>
        </select></label>
      ${me.value && html`<p class="faint version">Overtone ${me.value.version}</p>`}
    </div>
  </header>`;
}

function Logo() {
  return html`<svg class="logo" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
    <rect width="32" height="32" rx="7" /><g><path d="M5 16q5.5-13 11 0t11 0" />
    <path class="logo-overtone" d="M5 16q2.75-6.5 5.5 0t5.5 0 5.5 0 5.5 0" /></g></svg>`;
}

/** The views that the keys 1 to 9 show. */
export const KEYED = GROUPS.flatMap((group) => group.views).filter((name) => VIEWS.includes(name)).slice(0, 9);
