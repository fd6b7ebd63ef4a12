/** The dialogs of requests: which is open, and the frame that they share. */
import { html, signal, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { Button } from "../ui/button.js";
import { Dialog } from "../ui/dialog.js";
import { ask, newId } from "./requests.js";

/** @type {import("../html.js").Signal<{verb: string, trial: string} | null>} */
export const openRequest = signal(null);

/**
 * Open the dialog of a request.
 *
 * @param {string} verb
 * @param {string} [trial]
 */
export function openDialog(verb, trial = "") {
  openRequest.value = { verb, trial };
}

function closeDialog() {
  openRequest.value = null;
}

/**
 * A dialog that sends one request. Its id is made when it opens: however often it is sent, it is one record.
 *
 * @param {{verb: string, trial: string, args: () => Record<string, any> | null, submit: string, title: string,
 *   isDanger?: boolean, isWide?: boolean, isDisabled?: boolean, hasNote?: boolean, children?: any}} props `args` is
 *   null while something in the form is wrong.
 */
export function RequestDialog({ verb, trial, args, submit, title, isDanger, isWide, isDisabled, hasNote = true, children }) {
  const id = useRef(/** @type {string} */ (newId()));
  const [note, setNote] = useState("");
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    const given = args();
    if (isBusy || !given) return;
    setBusy(true);
    setError("");
    try {
      await ask(verb, trial, hasNote && note.trim() ? { ...given, note: note.trim() } : given, id.current);
      closeDialog();
    } catch (problem) {
      const { status, message } = /** @type {any} */ (problem);
      if (status > 0) id.current = newId(); // it was refused: what is sent next is another request
      setError(status === 0 ? t("shell.error_unreached") : message);
      setBusy(false);
    }
  }
  return html`<${Dialog} title=${title} onClose=${closeDialog} isWide=${isWide}>
    <form class="dialog-form" onSubmit=${send}>
      ${children}
      ${hasNote && html`<label class="field">${t("shell.reason")}
        <input type="text" value=${note} maxlength="10000" placeholder=${t("shell.reason_hint")}
          onInput=${(/** @type {any} */ e) => setNote(e.target.value)} /></label>`}
      ${error && html`<p class="note note-error" role="alert">${error}</p>`}
      <div class="dialog-foot">
        <${Button} label=${t("shell.cancel")} onClick=${closeDialog} />
        <${Button} type="submit" kind=${isDanger ? "danger" : "primary"} isDisabled=${isBusy || isDisabled}
          label=${isBusy ? t("shell.asking") : submit} />
      </div>
    </form>
  </${Dialog}>`;
}
