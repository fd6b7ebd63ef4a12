/** The config of a trial: what differs from the best trial first, and the whole of it to copy. */

import { html, useState } from "../../html.js";
import { text } from "../../format.js";
import { t } from "../../i18n.js";
import { link } from "../../state.js";
import { Button } from "../../ui/button.js";
import { CopyButton } from "../../ui/copy.js";
import { DataTable } from "../../ui/table.js";
import { pythonLiteral } from "../literals.js";

/** @typedef {{name: string, value: any, best?: any, differs: boolean}} Param */

const MOST_SHOWN = 12;
const LONGEST_VALUE = 200;

/**
 * @param {{params: Param[], config: any, best: {trial_id: string} | null, trial: string, changes: Param[]}} props
 *   `config` is nested
 */
export function ConfigPanel({ params, config, best, trial }) {
  const [isWhole, setWhole] = useState(false);
  const isCompared = best !== null && best.trial_id !== trial;
  const differing = params.filter(({ differs }) => differs).length;
  const shown = isWhole ? params : params.slice(0, Math.max(MOST_SHOWN, differing));
  const columns = [
    { label: t("tables.hyperparameter"), cell: (/** @type {Param} */ one) => html`<bdi class=${one.differs && isCompared ? "differs" : ""}>${one.name}</bdi>` },
    { label: t("tables.this_trial"), cell: (/** @type {Param} */ one) => html`<${Value} value=${one.value} isStrong=${one.differs && isCompared} />` },
    ...(isCompared ? [{ label: html`<a href=${link("trial", best.trial_id)}>${t("tables.best_trial")}</a>`,
      cell: (/** @type {Param} */ one) => html`<${Value} value=${one.best} isStrong=${false} />` }] : []),
  ]; // prettier-ignore
  return html`<section class="panel">
    <header class="panel-head"><h2>${t("tables.config")}</h2>
      <div class="view-tools"><${CopyButton} label=${t("tables.copy_python")} text=${() => pythonLiteral(config)} />
        <${CopyButton} label=${t("tables.copy_json")} text=${() => JSON.stringify(config, null, 2)} /></div></header>
    ${isCompared && html`<p class="faint">${differing === 0 ? t("tables.differs_nothing") : t("tables.differs_n", { n: differing, all: params.length })}</p>`}
    ${params.length === 0 ? html`<p class="faint">${t("tables.config_empty")}</p>` : html`<${DataTable} caption=${t("tables.config")} columns=${columns} rows=${shown} rowKey=${(/** @type {Param} */ one) => one.name} />`}
    ${shown.length < params.length && html`<${Button} small=${true} label=${t("tables.show_all", { n: params.length })} onClick=${() => setWhole(true)} />`}
  </section>`;
}

/** @param {{value: any, isStrong: boolean}} props */
function Value({ value, isStrong }) {
  if (value === undefined || value === null) return html`<span class="faint">${value === null ? "None" : "–"}</span>`;
  const shown = text(value);
  return html`<bdi class=${`mono anywhere${isStrong ? " differs" : ""}`}>${shown.slice(0, LONGEST_VALUE)}${shown.length > LONGEST_VALUE ? "…" : ""}</bdi>`;
}
