/** Texts in the reader's language. */
import { signal } from "./html.js";
import { dialogs } from "./i18n/en/dialogs.js";
import { plots } from "./i18n/en/plots.js";
import { shell } from "./i18n/en/shell.js";
import { tables } from "./i18n/en/tables.js";
import { lang } from "./state.js";

/** Language, area, key. @type {import("./html.js").Signal<Record<string, Record<string, Record<string, string>>>>} */
export const texts = signal({ en: { shell, plots, tables, dialogs } });

/**
 * @param {string} language
 * @param {Record<string, Record<string, string>>} areas
 */
export function addTexts(language, areas) {
  texts.value = { ...texts.value, [language]: { ...texts.value[language], ...areas } };
}

/**
 * Return a text. `{name}` is replaced by a value; `{n|one trial|{n} trials}` is chosen by whether n is 1
 * (in Chinese texts there is nothing to choose).
 *
 * @param {string} key "area.key".
 * @param {Record<string, string | number>} [values] Numbers are written as counts.
 * @returns {string}
 */
export function t(key, values = {}) {
  const at = key.indexOf(".");
  const area = key.slice(0, at);
  const name = key.slice(at + 1);
  const found = texts.value[lang.value]?.[area]?.[name] ?? texts.value.en[area]?.[name] ?? key;
  return fill(found, values);
}

/**
 * @param {string} template
 * @param {Record<string, string | number>} values
 * @returns {string}
 */
export function fill(template, values) {
  const chosen = template.replace(/\{(\w+)\|([^|{}]*(?:\{\w+\}[^|{}]*)*)\|([^|{}]*(?:\{\w+\}[^|{}]*)*)\}/g, (_, name, one, many) =>
    Number(values[name]) === 1 ? one : many);
  return chosen.replace(/\{(\w+)\}/g, (all, name) => {
    const value = values[name];
    if (value === undefined) return all;
    return typeof value === "number" && Number.isInteger(value) ? value.toLocaleString("en-US") : String(value);
  });
}
