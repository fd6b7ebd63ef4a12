/** The place of the guide, whose script is fetched when it is first shown. */
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { fetchPart, guideView } from "../parts.js";
import { ErrorNote, Spinner } from "../ui/notes.js";

export function GuidePart() {
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const Guide = guideView.value;
  const fetch = () => {
    setError(null);
    fetchPart("guide.js").catch(() => setError(new Error(t("shell.error_unreached"))));
  };
  useEffect(fetch, []);
  if (Guide) return html`<${Guide} />`;
  return error ? html`<${ErrorNote} error=${error} onRetry=${fetch} />` : html`<${Spinner} />`;
}
