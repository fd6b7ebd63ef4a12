/** What stands where nothing, not yet anything, or something wrong is to be shown. */
import { html } from "../html.js";
import { t } from "../i18n.js";
import { Button } from "./button.js";

/** @param {{title: string, children?: any}} props Says what is missing and how it comes. */
export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children}</div>`;
}

/** @param {{text?: string}} props */
export function Spinner({ text }) {
  return html`<div class="spinner" role="status"><span class="spinner-ring" aria-hidden="true" />${text ?? t("shell.loading")}</div>`;
}

/**
 * @param {{error: any, onRetry?: () => void, title?: string}} props `error` is an Error or a sentence; it is
 *   shown as it is.
 */
export function ErrorNote({ error, onRetry, title }) {
  const status = error?.status;
  const text = typeof error === "string" ? error : status === 0 ? t("shell.error_unreached") : String(error?.message ?? error);
  return html`<div class="note note-error" role="alert">
    <p><strong>${title ?? t("shell.error_title")}</strong></p>
    <p class="note-text">${text}</p>
    ${onRetry && html`<p><${Button} label=${t("shell.retry")} onClick=${onRetry} /></p>`}
  </div>`;
}
