/** One calm line about the connection, if there is something to say. */
import { html, useEffect, useState } from "../html.js";
import { duration } from "../format.js";
import { t } from "../i18n.js";
import { connection, experiment, lostAt, problem } from "../state.js";

export function Connection() {
  const [, tick] = useState(0);
  const isLost = connection.value === "lost" && !!experiment.value;
  useEffect(() => {
    if (!isLost) return undefined;
    const id = setInterval(() => tick(Date.now()), 1000);
    return () => clearInterval(id);
  }, [isLost]);
  if (!isLost) return problem.value ? html`<p class="note note-quiet" role="status">${t("shell.problem", { error: problem.value })}</p>` : null;
  const seconds = Math.max(Math.round((Date.now() - lostAt.value) / 1000), 0);
  if (seconds < 2) return null; // a server that restarts is back before anybody reads this
  return html`<p class="note note-quiet" role="status">${t("shell.lost", { since: seconds < 60 ? `${seconds} s` : duration(seconds) })}</p>`;
}
