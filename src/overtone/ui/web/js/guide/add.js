/** A small form with one field for each hyperparameter, filled with the best configuration. */
import { newId } from "../control/requests.js";
import { html, signal, useState } from "../html.js";
import { t } from "../i18n.js";
import { experiment, go, goal, overview, source, table } from "../state.js";
import { Button } from "../ui/button.js";

/** @typedef {import("../data/table.js").Column} Column */

/** The trial that was added last. @type {import("../html.js").Signal<string | null>} */
export const added = signal(null);

/** @param {{isOver: boolean}} props */
export function AddForm({ isOver }) {
  table.value.version.value; // drawn again with new columns
  const [values, setValues] = useState(/** @type {Record<string, string>} */ ({}));
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const columns = [...table.value.columns.values()].filter((column) => column.group === "param");
  const start = suggestion(columns, bestRow());
  /** @param {string} name */
  const set = (name) => (/** @type {any} */ event) => setValues({ ...values, [name]: event.target.value });

  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    try {
      const config = configOf(columns, { ...start, ...values });
      const answer = await source.value?.act(experiment.value, "add", "", { config }, newId());
      added.value = answer?.trial_id ?? "";
    } catch (refused) {
      setError(String(/** @type {Error} */ (refused).message));
    } finally {
      setBusy(false);
    }
  };

  return html`<form class="guide-form" onSubmit=${submit}>
    ${columns.map((column) => html`<label key=${column.key}><span class="cut" title=${column.name}>${column.name}</span>
      ${column.levels
        ? html`<select value=${values[column.name] ?? start[column.name]} onChange=${set(column.name)}>
            ${column.levels.map((level) => html`<option key=${String(level)} value=${String(level)}>${String(level)}</option>`)}
          </select>`
        : html`<input inputmode="decimal" value=${values[column.name] ?? start[column.name]} onInput=${set(column.name)} />`}
    </label>`)}
    <${Button} type="submit" isDisabled=${isBusy || isOver || columns.length === 0} label=${t("guide.add_do")} />
    <p class="guide-note" role="status">
      ${error || (isOver && added.value === null ? t("guide.over") : "")}
      ${added.value && html`<a href="#" onClick=${show}>${t("guide.add_show", { trial: added.value })}</a>`}
    </p>
  </form>`;
}

/** @param {Event} event */
function show(event) {
  event.preventDefault();
  if (added.value) go("trial", added.value);
}

/** @returns {number} The row of the best trial so far, else the first one; -1 without trials. */
function bestRow() {
  const best = overview.value?.goals?.[goal.value]?.best ?? overview.value?.best?.[goal.value] ?? overview.value?.best;
  return typeof best?.row === "number" ? best.row : table.value.length - 1;
}

/**
 * @param {Column[]} columns
 * @param {number} row
 * @returns {Record<string, string>} The text of each field: the values of a row, to three digits.
 */
export function suggestion(columns, row) {
  return Object.fromEntries(columns.map((column) => {
    const value = row < 0 ? NaN : column.values[row];
    if (column.levels) return [column.name, String(column.levels[value] ?? column.levels[0])];
    return [column.name, Number.isFinite(value) ? String(column.isInteger ? value : Number(value.toPrecision(3))) : ""];
  }));
}

/**
 * @param {Column[]} columns
 * @param {Record<string, string>} texts
 * @returns {Record<string, any>} The configuration.
 * @throws {Error} A field is not a number.
 */
export function configOf(columns, texts) {
  return Object.fromEntries(columns.map(({ name, levels, isInteger }) => {
    if (levels) return [name, levels.find((level) => String(level) === texts[name]) ?? texts[name]];
    const value = Number(texts[name]);
    if (texts[name].trim() === "" || !Number.isFinite(value) || (isInteger && !Number.isInteger(value))) {
      throw new Error(t(isInteger ? "guide.add_not_integer" : "guide.add_not_number", { name }));
    }
    return [name, value];
  }));
}
