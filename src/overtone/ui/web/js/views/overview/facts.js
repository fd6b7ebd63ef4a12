/** Slots, cost, limits and the driver, as sentences. */
import { html } from "../../html.js";
import { openDialog } from "../../control/dialogs.js";
import { hasDriver, isPossible } from "../../control/requests.js";
import { duration, moment, number } from "../../format.js";
import { t } from "../../i18n.js";
import { overview } from "../../state.js";
import { Button } from "../../ui/button.js";

export function FactsPanel() {
  const now = overview.value;
  const facts = factsOf(now).filter(([, value]) => value);
  return html`<section class="panel facts-panel" aria-labelledby="facts-title">
    <div class="panel-head"><h2 id="facts-title">${t("shell.facts")}</h2>
      ${isPossible("limits") && html`<${Button} small=${true} kind="quiet" label=${t("shell.limits_open")} onClick=${() => openDialog("limits")} />`}</div>
    <dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  </section>`;
}

/** @param {any} now @returns {[string, any][]} */
function factsOf(now) {
  const { slots, limits, driver } = now;
  const clock = now.now?.clock ?? 0;
  const trial_s = now.now?.trial_s ?? 0;
  return [
    [t("shell.slots"), slots && hasDriver() && (slots.of ? t("shell.slots_of", { used: slots.used, of: slots.of }) : t("shell.slots_used", { used: slots.used }))],
    [t("shell.cost"), trial_s > 0 && t("shell.cost_trials", { took: duration(trial_s), at_once: clock > 0 ? (trial_s / clock).toFixed(1) : "–" })],
    [t("shell.account"), accountOf(now.account)],
    [t("shell.n_results"), t("shell.results_of", { n: now.results ?? 0, records: now.n ?? 0 })],
    [t("shell.limits"), limitsText(limits)],
    [t("shell.driver"), driver
      ? t("shell.driver_on", { pid: String(driver.pid), host: driver.hostname, since: moment(driver.since) })
      : t("shell.no_driver")],
    [t("shell.started"), now.started && (now.runs > 1 ? t("shell.started_runs", { at: moment(now.started), n: now.runs - 1 }) : moment(now.started))],
    [t("shell.folder"), now.path && html`<code class="path">${now.path}</code>`],
  ];
}

/** @param {{cost: number, machine_s: number, redone_share: number} | null | undefined} account That of a simulated search. */
function accountOf(account) {
  if (!account) return "";
  const redone = `${number(Number((100 * account.redone_share).toPrecision(2)))} %`;
  return t("shell.account_is", { cost: number(account.cost), machines: duration(account.machine_s), redone });
}

/** @param {any} limits */
function limitsText(limits) {
  if (!limits) return "";
  const parts = [
    limits.max_concurrent && t("shell.limit_concurrent_is", { n: limits.max_concurrent }),
    limits.num_samples > 0 && t("shell.limit_samples_is", { n: limits.num_samples }),
    limits.time_budget_s && t("shell.limit_time_is", { time: duration(limits.time_budget_s) }),
  ].filter(Boolean);
  return parts.length ? parts.join(" · ") : t("shell.no_limits");
}
