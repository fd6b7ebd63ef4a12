/** The frame around every view: navigation, connection, theme and language. */
import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { openRequest } from "./control/dialogs.js";
import { Palette } from "./control/palette.js";
import { Dialogs } from "./control/request_dialogs.js";
import { retry } from "./data/session.js";
import { printable } from "./format.js";
import { GuidePart } from "./guide/part.js";
import { t } from "./i18n.js";
import { experiment, failure, isLoaded, me, needsLogin, overview, route, source } from "./state.js";
import { Connection } from "./ui/connection.js";
import { useEvery } from "./ui/every.js";
import { Login } from "./ui/login.js";
import { ViewNavigation } from "./ui/navigation.js";
import { ErrorNote, Spinner } from "./ui/notes.js";
import { Toasts } from "./ui/toasts.js";
import { views } from "./views/index.js";

const RETRY_S = 3;

export function App() {
  const { view, trial } = route.value;
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const [isMenuOpen, setMenuOpen] = useState(false);
  const first = useRef(true);
  useLayoutEffect(() => { // before the next key or click: what it gives the focus to keeps it
    setMenuOpen(false);
    if (!first.current) main.current?.focus({ preventScroll: true }); // a new view is read from its beginning
    first.current = false;
    scrollTo(0, 0);
  }, [view, trial, route.value.experiment]);
  if (needsLogin.value) return html`<${Login} />`;
  return html`
    <a class="skip" href="#main" onClick=${skip(main)}>${t("shell.skip")}</a>
    <div class=${`app${isMenuOpen ? " is-menu-open" : ""}`}>
      <${ViewNavigation} isOpen=${isMenuOpen} onToggle=${() => setMenuOpen(!isMenuOpen)} />
      <main class="main" id="main" tabindex="-1" ref=${main}><${Connection} /><${Content} key=${route.value.experiment} /></main>
    </div>
    <${Title} />${me.value?.is_demo && html`<${GuidePart} />`}<${Palette} /><${Requests} /><${Toasts} />`;
}

/** The view that the address names, once its data are there. */
function Content() {
  const { view } = route.value;
  const View = views[view];
  if (view === "experiments") return html`<${View} />`;
  if (failure.value) return html`<${Failed} />`;
  if (!isLoaded.value) return html`<${Loading} />`;
  return html`<${View} key=${view} />`;
}

/** How much of a long journal was read. */
function Loading() {
  const [share, setShare] = useState(0);
  const looks = useRef(0);
  useEvery(async () => {
    if (!looks.current++) return; // most are read within a second
    const at = await source.value?.reading?.(experiment.value).catch(() => null);
    if (at?.of_bytes) setShare(at.n_bytes / at.of_bytes);
  }, 1, []);
  return html`<${Spinner} text=${share > 0 && share < 1 ? t("shell.loading_share", { percent: Math.floor(100 * share) }) : undefined} />`;
}

/** The dialog of a request, if one is open. */
function Requests() {
  return openRequest.value && html`<${Dialogs} />`;
}

/** Why the experiment cannot be shown. It is tried again: it may not have begun, or its server may come back. */
function Failed() {
  useEvery(retry, RETRY_S, []);
  const isGone = /** @type {any} */ (failure.value)?.status === 404;
  return html`<h1>${experiment.value}</h1><${ErrorNote} title=${t("shell.open_failed", { name: experiment.value })} error=${isGone ? t("shell.no_such_experiment") : failure.value} onRetry=${retry} />
    ${isGone && html`<p><a href="#/">${t("shell.view_experiments")}</a></p>`}`;
}

/** @param {{current: HTMLElement | null}} main */
function skip(main) {
  return (/** @type {Event} */ event) => {
    event.preventDefault(); // the fragment is the route
    main.current?.focus();
  };
}

/** The tab's title. */
function Title() {
  const title = printable(titleOf());
  useEffect(() => {
    document.title = title;
  }, [title]);
  return null;
}

/** What a tab in the background says: how far the run is, and which. */
function titleOf() {
  const { view, trial } = route.value;
  if (view === "experiments") return "Overtone";
  const now = overview.value;
  const name = now?.name ?? experiment.value;
  const ended = now ? (now.statuses?.TERMINATED ?? 0) + (now.statuses?.ERROR ?? 0) : 0;
  const progress = now?.state === "running" ? `${ended}${now.planned ? `/${now.planned}` : ""} · ` : "";
  return `${progress}${trial || t(`shell.view_${view}`)} · ${name} · Overtone`;
}
