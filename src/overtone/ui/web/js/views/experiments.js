/** All experiments of the folder: those that run first, then the newest. */
import { html, useState } from "../html.js";
import { askForLogin } from "../data/session.js";
import { countsOf } from "../data/counts.js";
import { duration, moment, number } from "../format.js";
import { t } from "../i18n.js";
import { format } from "../router.js";
import { me, redirect, setQuery, route, source } from "../state.js";
import { Badge } from "../ui/badge.js";
import { Button } from "../ui/button.js";
import { CopyButton } from "../ui/copy.js";
import { useEvery } from "../ui/every.js";
import { Empty, ErrorNote, Spinner } from "../ui/notes.js";
import { ProgressBar } from "../ui/progress.js";
import { DataTable } from "../ui/table.js";

const MOST_COMPARED = 10;
/** Whether the list is the first view since the page was opened. */
let isFirst = true;
const LIVE_S = 2;
const QUIET_S = 10;

export function ExperimentsView() {
  const [all, setAll] = useState(/** @type {any[] | null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [chosen, setChosen] = useState(/** @type {string[]} */ ([]));
  const text = route.value.query.q ?? "";
  const isAnyLive = all?.some(isRunning) ?? true;
  async function read() {
    try {
      const { experiments } = await /** @type {any} */ (source.value).experiments();
      if (isFirst && experiments.length === 1 && route.value.view === "experiments") redirect(format({ view: "overview", experiment: experiments[0].id }));
      isFirst = false;
      setAll(experiments);
      setError(null);
    } catch (problem) {
      if (/** @type {any} */ (problem).status === 401) askForLogin();
      setError(problem);
    }
  }
  useEvery(read, isAnyLive ? LIVE_S : QUIET_S, [source.value]);
  if (!all) return error ? html`<${ErrorNote} error=${error} onRetry=${read} />` : html`<${Spinner} />`;
  const shown = all.filter((one) => matches(one, text));
  /** @param {string} id */
  const toggle = (id) => setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return html`
    <header class="view-head">
      <div><h1>${t("shell.view_experiments")}</h1>
        <p class="faint">${t("shell.experiments_in", { n: all.length })} ${me.value?.folder && html`<code class="path">${me.value.folder}</code>`}</p></div>
      ${all.length > 0 && html`<div class="view-tools">
        <input type="search" placeholder=${t("shell.filter_names")} aria-label=${t("shell.filter_names")} value=${text}
          onInput=${(/** @type {any} */ e) => setQuery({ q: e.target.value || null })} />
        ${chosen.length > 1
          ? html`<${Button} kind="primary" href=${format({ view: "compare", experiment: chosen[0], query: { experiments: chosen.join(",") } })}
              label=${t("shell.compare_n", { n: chosen.length })} />`
          : html`<${Button} isDisabled=${true} label=${t("shell.compare")} title=${t("shell.compare_how", { most: MOST_COMPARED })} />`}
      </div>`}
    </header>
    ${error && html`<${ErrorNote} error=${error} onRetry=${read} />`}
    ${all.length === 0
      ? html`<${FirstRun} />`
      : shown.length === 0
        ? html`<${Empty} title=${t("shell.no_name_matches", { text })}><${Button} label=${t("shell.show_all")} onClick=${() => setQuery({ q: null })} /></${Empty}>`
        : html`<div class="panel panel-flush"><${DataTable} caption=${t("shell.view_experiments")} rows=${shown} rowKey=${(/** @type {any} */ one) => one.id}
            columns=${columns(chosen, toggle)} /></div>`}`;
}

/**
 * @param {string[]} chosen
 * @param {(id: string) => void} toggle
 * @returns {import("../ui/table.js").TableColumn[]}
 */
function columns(chosen, toggle) {
  return [
    { label: html`<span class="hidden-text">${t("shell.compare")}</span>`, look: "cell-check", cell: (one) => html`<label class="check-cell"><input type="checkbox"
        checked=${chosen.includes(one.id)} disabled=${!chosen.includes(one.id) && chosen.length >= MOST_COMPARED}
        aria-label=${t("shell.choose", { name: one.name })} onChange=${() => toggle(one.id)} /></label>` },
    { label: t("shell.name"), look: "cell-name", sortBy: (one) => one.name.toLowerCase(), cell: (one) => html`
        <a class="name-link" href=${format({ view: "overview", experiment: one.id })}>${one.name}</a>
        ${one.trainable && html`<span class="faint small cut cell-sub">${one.trainable}</span>`}
        ${one.error && html`<span class="field-error small cell-sub">${one.error}</span>`}` },
    { label: t("shell.state"), look: "cell-state", sortBy: (one) => one.state, cell: (one) => html`<${Badge} state=${one.state} />` },
    { label: t("shell.trials"), look: "cell-trials", sortBy: (one) => one.trials, cell: trialsCell },
    { label: t("shell.best"), look: "cell-best", sortBy: (one) => one.best?.value ?? null, cell: bestCell },
    { label: t("shell.started"), look: "cell-started", sortBy: (one) => one.started, cell: (one) => moment(one.started) },
    { label: t("shell.took"), look: "cell-took", isNumber: true, sortBy: (one) => one.duration_s, cell: (one) => duration(one.duration_s) },
  ];
}

/** @param {any} one */
function trialsCell(one) {
  if (one.state === "damaged") return "";
  const counts = countsOf(one.statuses, isRunning(one));
  const ended = counts.completed + counts.failed;
  const text = one.planned > 0
    ? t("shell.ended_of", { n: ended, all: Math.max(one.planned, one.trials) })
    : t("shell.ended", { n: ended, all: one.trials });
  const failed = counts.failed ? t("shell.and_failed", { n: counts.failed }) : "";
  return html`<${ProgressBar} small=${true} counts=${counts} planned=${one.planned} label=${text} />
    <span class="small">${text}${failed && html` · <span class="failed-text">${failed}</span>`}</span>`;
}

/** @param {any} one */
function bestCell(one) {
  if (!one.best) return one.metric ? html`<span class="faint">${one.metric}: –</span>` : "";
  return html`<span class="best-value">${number(one.best.value)}</span> <span class="faint small nowrap">${one.metric} ${one.mode === "max" ? "↑" : "↓"}</span>`;
}

/** @param {any} one */
function isRunning(one) {
  return one.state === "running" || one.state === "stopping";
}

/** @param {any} one @param {string} text */
function matches(one, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const whole = `${one.name} ${one.trainable ?? ""} ${one.metric ?? ""} ${one.state}`.toLowerCase();
  return words.every((word) => whole.includes(word));
}

/** What stands in an empty folder: how a run gets here. */
function FirstRun() {
  const folder = me.value?.folder ?? "~/overtone_results";
  const code = `from overtone import tune


def train(config):
    for step in range(1, 21):
        tune.report(loss=(config["x"] - 3) ** 2 + config["y"] / step)


space = {"x": tune.uniform(0, 10), "y": tune.choice([1, 2, 4])}
tune.run(train, config=space, num_samples=20, metric="loss", mode="min",
         storage_path=${JSON.stringify(folder)})
`;
  return html`<div class="panel"><${Empty} title=${t("shell.no_experiments")}>
    <p>${t("shell.no_experiments_how")}</p>
    <div class="first-run"><pre class="code">${code}</pre><${CopyButton} label=${t("shell.copy")} text=${() => code} /></div>
    <p>${t("shell.no_experiments_else")} <code>overtone ui FOLDER</code></p>
  </${Empty}></div>`;
}
