/** Short messages at the lower edge: what was asked, and what came of it. */
import { html, signal } from "../html.js";
import { t } from "../i18n.js";
import { Button } from "./button.js";

/** @typedef {{id: number, kind: "done" | "failed", text: any, href?: string, linkText?: string}} Toast */

/** @type {import("../html.js").Signal<Toast[]>} */
const toasts = signal([]);
let next = 1;

/**
 * Show a message: for 10 s, or until it is dismissed if something failed.
 *
 * @param {Omit<Toast, "id">} toast
 */
export function toast(toast) {
  const id = next++;
  toasts.value = [...toasts.value.slice(-3), { id, ...toast }];
  if (toast.kind === "done") setTimeout(() => dismiss(id), 10_000);
}

/** @param {number} id */
function dismiss(id) {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map((one) => html`<div key=${one.id} class=${`toast toast-${one.kind}`}>
      <span>${one.text}</span>
      ${one.href && html`<a href=${one.href}>${one.linkText}</a>`}
      <${Button} kind="quiet" small=${true} label="×" name=${t("shell.dismiss")} onClick=${() => dismiss(one.id)} />
    </div>`)}
  </div>`;
}
