/** A view by its name: its script is fetched first if it has not come yet. */
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { arrived, fetchPart } from "../parts.js";
import { views } from "../views/index.js";
import { ErrorNote, Spinner } from "./notes.js";

/** @param {{name: string, script?: string}} props */
export function View({ name, script = "views.js" }) {
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const Found = (arrived.value, views[name]);
  const fetch = () => {
    setError(null);
    fetchPart(script).catch(() => setError(new Error(t("shell.error_unreached"))));
  };
  useEffect(() => {
    if (!Found) fetch();
  }, [name]);
  if (Found) return html`<${Found} />`;
  return error ? html`<${ErrorNote} error=${error} onRetry=${fetch} />` : html`<${Spinner} />`;
}
