/** A modal dialog: the browser's own, which keeps the focus inside and gives it back. Its first field is focused, so
 * the cross is last. */
import { html, useId, useLayoutEffect, useRef } from "../html.js";
import { t } from "../i18n.js";
import { Button } from "./button.js";

/**
 * @param {{title: any, onClose: () => void, children?: any, isWide?: boolean}} props Escape, the cross and a
 *   click beside it close it.
 */
export function Dialog({ title, onClose, children, isWide = false }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  useLayoutEffect(() => { // before the next key: what is typed meanwhile goes into its field
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  /** @param {MouseEvent} event */
  const onMouseDown = (event) => {
    if (event.target === ref.current) onClose(); // the backdrop: content covers the rest
  };
  return html`<dialog ref=${ref} class=${`dialog${isWide ? " dialog-wide" : ""}`} aria-labelledby=${id}
      onCancel=${(/** @type {Event} */ event) => (event.preventDefault(), onClose())} onMouseDown=${onMouseDown}>
    <div class="dialog-content">
      <h2 class="dialog-title" id=${id}>${title}</h2>
      ${children}
      <div class="dialog-close"><${Button} kind="quiet" small=${true} label="×" name=${t("shell.close")} onClick=${onClose} /></div>
    </div>
  </dialog>`;
}
