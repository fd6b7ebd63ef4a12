/** Chooses the columns of the table. */

import { html, useEffect, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";

/** @typedef {import("./shown_columns.js").Choice} Choice */

const GROUPS = /** @type {const} */ (["result", "param", "metric", "fact"]);

/**
 * @param {{choices: Choice[], shown: string[], isDefault: boolean, onShow: (keys: string[] | null) => void}} props
 */
export function ColumnMenu({ choices, shown, isDefault, onShow }) {
  const [isOpen, setOpen] = useState(false);
  const [sought, setSought] = useState("");
  const place = useRef(/** @type {any} */ (null));
  const button = useRef(/** @type {any} */ (null));
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = (/** @type {any} */ event) => !event.composedPath().includes(place.current) && setOpen(false);
    document.addEventListener("pointerdown", close);
    return () => document.removeEventListener("pointerdown", close);
  }, [isOpen]);

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.key !== "Escape" || !isOpen) return;
    event.stopPropagation();
    setOpen(false);
    button.current?.focus();
  }
  /** @param {string} key */
  const toggle = (key) => onShow(shown.includes(key) ? shown.filter((one) => one !== key) : [...shown, key]);
  const found = choices.filter(({ label }) => label.toLowerCase().includes(sought.toLowerCase()));
  return html`<div class="column-menu" ref=${place} onKeyDown=${onKey}>
    <${Button} buttonRef=${button} label=${t("tables.columns")} isExpanded=${isOpen} onClick=${() => setOpen(!isOpen)} />
    ${isOpen && html`<div class="column-panel" role="group" aria-label=${t("tables.columns")}>
      <input type="search" aria-label=${t("tables.find_column")} placeholder=${t("tables.find_column")} value=${sought}
        onInput=${(/** @type {any} */ event) => setSought(event.target.value)} />
      <div class="column-list">
        ${GROUPS.map((group) => {
          const own = found.filter((one) => one.group === group);
          return own.length > 0 && html`<fieldset key=${group}><legend>${t(`tables.group_${group}`)}</legend>
            ${own.map(({ key, label }) => html`<label class="check" key=${key}>
              <input type="checkbox" checked=${shown.includes(key)} onChange=${() => toggle(key)} /><bdi class="cut">${label}</bdi></label>`)}
          </fieldset>`;
        })}
      </div>
      <${Button} small=${true} label=${t("tables.columns_reset")} isDisabled=${isDefault} onClick=${() => onShow(null)} />
    </div>`}
  </div>`;
}
