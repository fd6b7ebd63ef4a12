/** The best trial so far and its configuration. */
import { html } from "../../html.js";
import { openDialog } from "../../control/dialogs.js";
import { isPossible } from "../../control/requests.js";
import { json, number, text } from "../../format.js";
import { t } from "../../i18n.js";
import { experiment, goal, goalNow, link, overview, source, table } from "../../state.js";
import { Button } from "../../ui/button.js";
import { nested, pythonLiteral } from "../../tables/literals.js";
import { CopyButton } from "../../ui/copy.js";
import { Empty } from "../../ui/notes.js";

const MOST_SHOWN = 14;

export function BestPanel() {
  const now = overview.value;
  const shown = goalNow();
  const best = now.goals?.[goal.value]?.best;
  if (!shown || !best) {
    return html`<section class="panel best"><h2>${t("shell.best_so_far")}</h2>
      <${Empty} title=${t(shown ? "shell.no_best" : "shell.no_goal")}><p>${t(shown ? "shell.no_best_how" : "shell.no_goal_how")}</p></${Empty}></section>`;
  }
  const [metric, mode] = shown;
  const trial = best.trial_id;
  const config = configOf(best.row);
  const names = Object.keys(config);
  const isBetterBefore = best.best_value !== undefined && best.best_value !== best.value;
  return html`<section class="panel best" aria-labelledby="best-title">
    <h2 id="best-title">${t("shell.best_so_far")}</h2>
    <p class="best-line"><span class="best-number">${number(best.value)}</span>
      <span class="faint">${metric} · ${t(mode === "max" ? "shell.larger_better" : "shell.smaller_better")}</span></p>
    <p><a href=${link("trial", trial)}>${t("shell.trial_named", { trial })}</a>${isBetterBefore
      ? html` <span class="faint">· ${t("shell.best_before", { value: number(best.best_value), t: best.best_iteration ?? "" })}</span>` : ""}</p>
    <dl class="config">${names.slice(0, MOST_SHOWN).map((name) => html`<div key=${name}><dt class="cut" title=${name}>${name}</dt>
      <dd class="cut" title=${config[name]}>${config[name]}</dd></div>`)}</dl>
    ${names.length > MOST_SHOWN && html`<p class="faint small">${t("shell.more_params", { n: names.length - MOST_SHOWN })}</p>`}
    <div class="actions">
      <${CopyButton} label=${t("shell.copy_python")} text=${() => copied(trial, "python")} />
      <${CopyButton} label=${t("shell.copy_json")} text=${() => copied(trial, "json")} />
      ${isPossible("clone") && html`<${Button} small=${true} label=${t("shell.clone_open")} onClick=${() => openDialog("clone", trial)} />`}
    </div>
  </section>`;
}

/** @param {number} row @returns {Record<string, string>} The texts of a trial's hyperparameters. */
function configOf(row) {
  const found = /** @type {Record<string, string>} */ ({});
  for (const { group, name, values, levels, isInteger } of table.value.columns.values()) {
    if (group !== "param" || row >= values.length) continue;
    const value = values[row];
    if (levels ? value >= 0 : !Number.isNaN(value)) found[name] = levels ? text(levels[value]) : number(value, isInteger);
  }
  return found;
}

/**
 * Return the exact config of a trial, to be pasted.
 *
 * @param {string} trial
 * @param {"python" | "json"} language
 */
async function copied(trial, language) {
  const answer = await /** @type {any} */ (source.value).trial(experiment.value, trial);
  const whole = answer.config_full ?? nested(answer.config);
  return language === "json" ? json(whole, 2) : (answer.config_python ?? pythonLiteral(whole));
}
