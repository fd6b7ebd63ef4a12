/** Commands by keyboard: "." lists what can be done, "?" the keys. */
import { html, signal, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { address, go, hasKeys, overview, route, setKeys } from "../state.js";
import { Dialog } from "../ui/dialog.js";
import { KEYED } from "../ui/navigation.js";
import { commandsNow, matching } from "./commands.js";
import { openRequest } from "./dialogs.js";

/** @type {import("../html.js").Signal<"" | "palette" | "keys">} */
const openPanel = signal("");
const MOST_SHOWN = 12;

export function Palette() {
  useLayoutEffect(() => {
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  if (openPanel.value === "keys") return html`<${Keys} />`;
  return openPanel.value === "palette" ? html`<${Commands} />` : null;
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (openPanel.value || openRequest.value) return; // what is typed is meant for a dialog, even if it is not there yet
  if (target instanceof HTMLElement && (target.isContentEditable || target.closest("input, select, textarea, dialog"))) return;
  if (!hasKeys.value && event.key !== "?") return;
  const run = keyed(event.key);
  if (!run) return;
  event.preventDefault();
  run();
}

/** @param {string} key @returns {(() => void) | undefined} */
function keyed(key) {
  if (key === "?") return () => void (openPanel.value = "keys");
  if (key === ".") return () => void (openPanel.value = "palette");
  if (key === "e") return () => address.open("#/");
  if (!route.value.experiment) return undefined;
  const best = overview.value?.goals?.[0]?.best;
  if (key === "b" && best) return () => go("trial", best.trial_id);
  const view = KEYED[Number(key) - 1];
  return view ? () => go(view) : undefined;
}

function close() {
  openPanel.value = "";
}

function Commands() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const commands = useMemo(commandsNow, [overview.value === null, route.value]); // no update moves them under the reader
  const found = matching(commands, text).slice(0, MOST_SHOWN);
  const chosen = Math.min(at, found.length - 1);
  /** @param {import("./commands.js").Command | undefined} command */
  function run(command) {
    if (!command) return;
    close();
    command.run();
  }
  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((chosen + step + found.length) % Math.max(found.length, 1));
    else if (event.key === "Enter") run(found[chosen]);
    else return;
    event.preventDefault();
  }
  return html`<${Dialog} title=${t("shell.palette")} onClose=${close}>
    <input type="text" role="combobox" autofocus aria-label=${t("shell.palette_hint")} aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list"
      aria-activedescendant=${chosen >= 0 ? `palette-${chosen}` : undefined} placeholder=${t("shell.palette_hint")} value=${text}
      onInput=${(/** @type {any} */ e) => (setText(e.target.value), setAt(0))} onKeyDown=${onKeyDown} />
    <ul class="palette-list" id="palette-list" role="listbox" aria-label=${t("shell.palette")} ref=${list}>${found.map((command, i) => html`
      <li key=${command.label} id=${`palette-${i}`} role="option" aria-selected=${i === chosen} class="palette-item"
        onPointerMove=${() => i !== chosen && setAt(i)} onClick=${() => run(command)}><span class="cut">${command.label}</span>${command.hint && html`<kbd>${command.hint}</kbd>`}</li>`)}
    </ul>
    ${!found.length && html`<p class="faint">${t("shell.palette_none")}</p>`}
  </${Dialog}>`;
}

function Keys() {
  const rows = [
    [".", t("shell.key_palette")],
    ["?", t("shell.key_help")],
    ["e", t("shell.view_experiments")],
    ["b", t("shell.key_best")],
    ...KEYED.map((view, i) => [String(i + 1), t(`shell.view_${view}`)]),
  ];
  return html`<${Dialog} title=${t("shell.keys")} onClose=${close}>
    <dl class="keys">${rows.map(([key, text]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl>
    <label class="check"><input type="checkbox" checked=${hasKeys.value} onChange=${() => setKeys(!hasKeys.value)} /> ${t("shell.keys_on")}</label>
  </${Dialog}>`;
}
