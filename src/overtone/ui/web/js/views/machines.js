/** The machines of a run: which one is slow, what each one does, and the trials on it. */

import { html } from "../html.js";
import { bytes, count, took } from "../format.js";
import { t } from "../i18n.js";
import { clockNow, experiment, overview, source } from "../state.js";
import { useAnswer } from "../tables/answers.js";
import { TrialName } from "../tables/trial_text.js";
import { UsageChart } from "../tables/usage_chart.js";
import { Figure } from "../ui/figure.js";
import { Empty, ErrorNote, Spinner } from "../ui/notes.js";

/**
 * @typedef {{name: string, time: number[], cpu: (number | null)[], n_cpus: number | null,
 *   memory_used: (number | null)[], memory_total: number | null, disk_used: (number | null)[], disk_total: number | null,
 *   gpus: {use: (number | null)[], memory_used: (number | null)[], memory_total: number | null}[],
 *   trials: {trial_id: string, row: number}[], n_trials: number, failed: number, results: number,
 *   seconds_per_iteration: number | null, slowness: number | null}} Node
 */

/** @typedef {{nodes: Node[], slowest: string | null}} Machines */

const EVERY_S = 5;
const MOST_TRIALS = 24;
/** Parts of memory and disk from which a machine is short of them. */
const FULL = 0.95;

export function MachinesView() {
  const ask = () => /** @type {import("../data/source.js").Source} */ (source.value).machines(experiment.value);
  const news = `${Math.floor((clockNow() || 0) / EVERY_S)} ${overview.value?.state}`;
  const { data, error, reload } = useAnswer(ask, experiment.value, news);
  /** @type {Machines | null} */
  const machines = data;
  const head = html`<header class="view-head"><h1>${t("tables.machines")}</h1></header>`;
  if (error && !machines) return html`${head}<${ErrorNote} error=${error} onRetry=${reload} />`;
  if (!machines) return html`${head}<${Spinner} />`;
  if (machines.nodes.length === 0) return html`${head}<${Empty} title=${t("tables.no_machines")}><p>${t("tables.no_machines_yet")}</p></>`;
  const isSampled = machines.nodes.some((node) => node.time.length > 0);
  return html`${head}
    <section class="panel verdict"><p class="verdict-text" role="status"><bdi>${verdict(machines)}</bdi></p>
      ${!isSampled && html`<p class="faint">${t("tables.no_samples")}</p>`}</section>
    <div class="machines">${machines.nodes.map((node) => html`<${Machine} key=${node.name} node=${node} isSlow=${node.name === machines.slowest} />`)}</div>`;
}

/** @param {Machines} machines */
function verdict({ nodes, slowest }) {
  const isOver = overview.value?.state !== "running";
  if (nodes.length === 1) return t(isOver ? "tables.one_machine_over" : "tables.one_machine", { node: nodes[0].name, n: nodes[0].trials.length });
  const known = nodes.filter((node) => node.slowness !== null);
  if (known.length < 2) return t("tables.slow_unknown", { n: nodes.length });
  const worst = known.reduce((a, b) => ((b.slowness ?? 0) > (a.slowness ?? 0) ? b : a));
  const factor = worst.slowness ?? 1;
  if (worst.name !== slowest) return t("tables.slow_none", { node: worst.name, more: percent(Math.max(0, factor - 1)), n: nodes.length });
  return t("tables.slow_is", { node: worst.name, factor: factor.toFixed(1), each: took(worst.seconds_per_iteration) || "–" });
}

/** @param {{node: Node, isSlow: boolean}} props */
function Machine({ node, isSlow }) {
  const charts = chartsOf(node);
  const { name, trials } = node;
  const title = html`<bdi>${name}</bdi>${isSlow && html` <span class="slow-mark"><span aria-hidden="true">▲ </span>${t("tables.slow")}</span>`}`;
  const summary = [name, isSlow ? t("tables.slow") : "", ...charts.map((one) => `${one.label}: ${one.now}`)].filter(Boolean).join(". ");
  return html`<section class=${`panel machine${isSlow ? " is-slow" : ""}`}>
    <${Figure} title=${title} summary=${summary} table=${charts.length > 0 && (() => samplesTable(charts, node))}>
      <dl class="trial-facts">
        <div><dt>${t("tables.runs_here")}</dt><dd>${count(trials.length)}</dd></div>
        <div><dt>${t("tables.trials_here")}</dt><dd>${count(node.n_trials)}</dd></div>
        ${node.failed > 0 && html`<div><dt>${t("tables.failed_here")}</dt><dd>${count(node.failed)}</dd></div>`}
        <div><dt>${t("tables.per_iteration")}</dt><dd>${took(node.seconds_per_iteration) || "–"}</dd></div>
      </dl>
      <div class="machine-charts">${charts.map(({ key, label, now, parts, isFull }) => html`<div key=${key} class=${isFull ? "machine-chart is-full" : "machine-chart"}>
        <div class="machine-chart-head"><span class="faint small">${label}</span><span class="small">${isFull && html`<span aria-hidden="true">▲ </span>`}${now}</span></div>
        <${UsageChart} parts=${parts} label=${`${label}: ${now}`} /></div>`)}</div>
      ${trials.length > 0 && html`<p class="machine-trials small">${trials.slice(0, MOST_TRIALS).map((one) => html`<${TrialName} id=${one.trial_id} /> `)}
        ${trials.length > MOST_TRIALS && t("tables.and_more", { n: trials.length - MOST_TRIALS })}</p>`}
    </>
  </section>`;
}

/** @typedef {{key: string, label: string, now: string, parts: (number | null)[], isFull: boolean}} Chart */

/** @param {Node} node @returns {Chart[]} */
function chartsOf(node) {
  const charts = [
    chart("cpu", node.n_cpus ? t("tables.cpus", { n: node.n_cpus }) : t("tables.cpu"), node.cpu, percent),
    sizeChart("memory", t("tables.memory"), node.memory_used, node.memory_total, true),
    sizeChart("disk", t("tables.disk"), node.disk_used, node.disk_total, true),
    ...node.gpus.flatMap((gpu, i) => [
      chart(`gpu${i}`, `GPU ${i}`, gpu.use, percent),
      sizeChart(`gpumemory${i}`, t("tables.gpu_memory", { i }), gpu.memory_used, gpu.memory_total, false),
    ]),
  ];
  return charts.filter((one) => one.parts.some((part) => part !== null));
}

/**
 * @param {string} key
 * @param {string} label
 * @param {(number | null)[]} parts
 * @param {(part: number) => string} show
 * @returns {Chart}
 */
function chart(key, label, parts, show) {
  const last = parts.findLast((part) => part !== null) ?? null;
  return { key, label, parts, now: last === null ? "–" : show(last), isFull: false };
}

/**
 * @param {string} key
 * @param {string} label
 * @param {(number | null)[]} used bytes
 * @param {number | null} total bytes
 * @param {boolean} isScarce whether work fails if it is full
 * @returns {Chart}
 */
function sizeChart(key, label, used, total, isScarce) {
  const parts = used.map((one) => (one === null || !total ? null : one / total));
  const one = chart(key, label, parts, (part) => t("tables.of_size", { used: bytes(part * (total ?? 0)), total: bytes(total) }));
  return { ...one, isFull: isScarce && (parts.findLast((part) => part !== null) ?? 0) >= FULL };
}

/** @param {number} part */
function percent(part) {
  return `${Math.round(part * 100)} %`;
}

/**
 * @param {Chart[]} charts
 * @param {Node} node
 */
function samplesTable(charts, node) {
  const rows = node.time.map((time, i) => ({ time, parts: charts.map((one) => one.parts[i]) })).reverse();
  const columns = [
    { label: t("tables.time"), cell: (/** @type {any} */ row) => new Date(row.time * 1000).toLocaleTimeString() },
    ...charts.map((one, i) => ({ label: one.label, isNumber: true, cell: (/** @type {any} */ row) => (row.parts[i] === null ? "–" : percent(row.parts[i])) })),
  ]; // prettier-ignore
  return { columns, rows };
}
