/** Dialogs that add a trial: a config of one's own, or that of another trial with changes. */
import { html, useEffect, useId, useState } from "../html.js";
import { number } from "../format.js";
import { t } from "../i18n.js";
import { experiment, source, table } from "../state.js";
import { ErrorNote, Spinner } from "../ui/notes.js";
import { RequestDialog } from "./dialogs.js";
import { changed, configOf, fieldsOf, textOf, valueOf } from "./fields.js";

/** @typedef {Record<string, string>} Texts */

/** Clone a trial. @param {{trial: string}} props */
export function CloneDialog({ trial }) {
  const [config, setConfig] = useState(/** @type {Record<string, any> | null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => {
    source.value?.trial(experiment.value, trial).then(
      (answer) => setConfig(Object.fromEntries(answer.params.map((/** @type {any} */ one) => [one.name, one.value]))), setError);
  }, [trial]);
  if (error || !config) {
    return html`<${RequestDialog} verb="clone" trial=${trial} title=${t("dialogs.clone_title", { trial })} submit=${t("dialogs.clone")}
      args=${() => null} isDisabled=${true} hasNote=${false}>${error ? html`<${ErrorNote} error=${error} />` : html`<${Spinner} />`}</${RequestDialog}>`;
  }
  return html`<${ConfigDialog} trial=${trial} config=${config} />`;
}

/** Add a configuration. */
export function AddDialog() {
  return html`<${ConfigDialog} trial="" config=${null} />`;
}

/** @param {{trial: string, config: Record<string, any> | null}} props */
function ConfigDialog({ trial, config }) {
  const isClone = config !== null;
  const [fields] = useState(() => withOthers(fieldsOf(table.value.columns.values(), table.value.space), config));
  /** @type {Texts} */
  const before = Object.fromEntries(fields.map(({ name }) => [name, isClone ? textOf(config[name]) : ""]));
  const [texts, setTexts] = useState(before);
  const [json, setJson] = useState(/** @type {string | null} */ (null));
  const [isAnew, setAnew] = useState(false);
  const names = changed(before, texts);
  const wrong = fields.filter((field) => names.includes(field.name) && valueOf(field, texts[field.name]).isWrong);
  const typed = json === null ? null : configOf(json);

  function values() {
    if (typed) return typed.config ?? null;
    if (wrong.length) return null;
    const chosen = fields.filter(({ name }) => names.includes(name) && texts[name].trim() !== "");
    return Object.fromEntries(chosen.map((field) => [field.name, valueOf(field, texts[field.name]).value]));
  }
  function args() {
    const found = values();
    if (!found) return null;
    return isClone ? { changes: found, ...(isAnew ? { anew: true } : {}) } : { config: found };
  }
  const toggle = () => setJson(json === null ? JSON.stringify(values() ?? {}, null, 2) : null);
  const title = t(isClone ? "dialogs.clone_title" : "dialogs.add_title", { trial });
  return html`<${RequestDialog} verb=${isClone ? "clone" : "add"} trial=${trial} title=${title} isWide=${true}
      submit=${t(isClone ? "dialogs.clone" : "dialogs.add")} args=${args} isDisabled=${!!wrong.length || !!typed?.error}>
    <p class="faint">${t(isClone ? "dialogs.clone_how" : "dialogs.add_how")}</p>
    ${json === null
      ? html`<div class="config-fields">${fields.map((field) => html`<${ConfigField} key=${field.name} field=${field}
          text=${texts[field.name]} isChanged=${isClone && names.includes(field.name)} before=${before[field.name]}
          isWrong=${wrong.includes(field)} onInput=${(/** @type {string} */ text) => setTexts({ ...texts, [field.name]: text })} />`)}</div>`
      : html`<label class="field">${t("dialogs.as_json")}
          <textarea class="mono" rows="10" spellcheck=${false} value=${json} aria-invalid=${typed?.error ? "true" : undefined}
            onInput=${(/** @type {any} */ e) => setJson(e.target.value)} /></label>
          ${typed?.error && html`<p class="field-error">${typed.error === "object" ? t("dialogs.json_object") : typed.error}</p>`}`}
    <div class="dialog-options">
      <label class="check"><input type="checkbox" checked=${json !== null} onChange=${toggle} /> ${t("dialogs.edit_json")}</label>
      ${isClone && html`<label class="check"><input type="checkbox" checked=${isAnew} onChange=${() => setAnew(!isAnew)} /> ${t("dialogs.clone_anew")}</label>`}
      ${isClone && json === null && html`<span class="faint" role="status">${names.length ? t("dialogs.n_changed", { n: names.length }) : t("dialogs.none_changed")}</span>`}
    </div>
  </${RequestDialog}>`;
}

/**
 * @param {{field: import("./fields.js").Field, text: string, isChanged: boolean, isWrong: boolean, before: string,
 *   onInput: (text: string) => void}} props
 */
function ConfigField({ field, text, isChanged, isWrong, before, onInput }) {
  const { name, kind, options, isInteger, low, high } = field;
  const hint = kind === "number" && Number.isFinite(low) ? `${number(low)} … ${number(high)}` : "";
  /** @param {any} event */
  const on = (event) => onInput(event.target.value);
  const known = options.map(textOf);
  const list = useId();
  return html`<label class=${`config-field${isChanged ? " is-changed" : ""}`}>
    <span class="config-name cut" title=${name}>${name}${isChanged && html`<span class="config-was">${t("dialogs.was", { value: before || "–" })}</span>`}</span>
    ${kind === "choice"
      ? html`<select value=${text} onChange=${on}><option value="">${t("dialogs.from_space")}</option>
          ${[...known, ...(text && !known.includes(text) ? [text] : [])].map((option) => html`<option value=${option}>${option}</option>`)}</select>`
      : html`<input type="text" list=${known.length ? list : undefined} inputmode=${kind === "number" ? "decimal" : undefined} value=${text} spellcheck=${false}
          aria-invalid=${isWrong ? "true" : undefined} placeholder=${hint || t("dialogs.from_space")} title=${hint ? t("dialogs.range", { range: hint }) : undefined} onInput=${on} />${known.length > 0 && html`<datalist id=${list}>${known.map((option) => html`<option value=${option} />`)}</datalist>`}`}
    ${isWrong && html`<span class="field-error">${t(isInteger ? "dialogs.must_be_integer" : "dialogs.must_be_number")}</span>`}
  </label>`;
}

/**
 * Return the fields, with those of values that no column holds (constants of the config).
 *
 * @param {import("./fields.js").Field[]} fields
 * @param {Record<string, any> | null} config
 */
function withOthers(fields, config) {
  const known = new Set(fields.map(({ name }) => name));
  const others = Object.keys(config ?? {}).filter((name) => !known.has(name));
  return [...fields, ...others.map((name) => (
    { name, kind: /** @type {const} */ ("json"), options: [], isInteger: false, isLog: false, low: NaN, high: NaN }))];
}
