/** A button that opens a list of actions; arrow keys move, Escape closes. */
import { html, useLayoutEffect, useRef, useState } from "../html.js";
import { Button } from "./button.js";

/** @typedef {{label: any, onClick: () => void, kind?: "plain" | "danger", isDisabled?: boolean}} MenuItem */

/** @param {{label: any, items: MenuItem[], name?: string, small?: boolean, kind?: any}} props */
export function Menu({ label, items, name, small, kind }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const opener = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    entries(box.current)[0]?.focus();
    /** @param {PointerEvent} event */
    const onPointer = (event) => {
      if (!event.composedPath().includes(/** @type {any} */ (box.current))) setOpen(false);
    };
    addEventListener("pointerdown", onPointer);
    return () => removeEventListener("pointerdown", onPointer);
  }, [isOpen]);
  function close() {
    setOpen(false);
    opener.current?.focus();
  }
  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    if (!isOpen) return;
    const all = entries(box.current);
    const at = all.indexOf(/** @type {any} */ (event.target));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape") close();
    else if (event.key === "Tab") setOpen(false);
    else if (next !== undefined) all[(next + all.length) % all.length]?.focus();
    if (event.key === "Escape" || next !== undefined) event.preventDefault();
  }
  return html`<div class="menu" ref=${box} onKeyDown=${onKeyDown}>
    <${Button} buttonRef=${opener} label=${label} name=${name} small=${small} kind=${kind} hasPopup="menu" isExpanded=${isOpen}
      onClick=${() => setOpen(!isOpen)} />
    ${isOpen && html`<ul class="menu-list" role="menu">${items.map((item) => html`<li role="none">
      <button type="button" role="menuitem" tabindex="-1" disabled=${item.isDisabled} class=${`menu-item menu-item-${item.kind ?? "plain"}`}
        onClick=${() => (close(), item.onClick())}>${item.label}</button></li>`)}</ul>`}
  </div>`;
}

/** @param {HTMLElement | null} box @returns {HTMLElement[]} */
function entries(box) {
  return box ? [...box.querySelectorAll(/** @type {"button"} */ ('[role="menuitem"]:not(:disabled)'))] : [];
}
