/** A button that copies text. */
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { Button } from "./button.js";

/**
 * @param {{label: any, text: () => string | Promise<string>, name?: string, kind?: any}} props `text` is asked when
 *   the button is pressed.
 */
export function CopyButton({ label, text, name, kind }) {
  const [state, setState] = useState(/** @type {"" | "done" | "failed"} */ (""));
  useEffect(() => {
    if (!state) return undefined;
    const id = setTimeout(() => setState(""), 2000);
    return () => clearTimeout(id);
  }, [state]);
  async function copy() {
    try {
      await put(await text());
      setState("done");
    } catch {
      setState("failed");
    }
  }
  const shown = state === "done" ? t("shell.copied") : state === "failed" ? t("shell.copy_failed") : label;
  return html`<${Button} small=${true} kind=${kind} label=${shown} name=${state ? undefined : name} onClick=${copy} />`;
}

/** @param {string} text */
async function put(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // A page behind plain HTTP on another host has no clipboard: the old way works there.
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (!isDone) throw new Error("copying is not allowed");
  return undefined;
}
