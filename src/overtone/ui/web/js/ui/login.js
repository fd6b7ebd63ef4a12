/** What somebody sees who has no login: how to get the address, and a field for the token. */
import { html, useState } from "../html.js";
import { t } from "../i18n.js";
import { source } from "../state.js";
import { httpSource } from "../data/source.js";
import { Button } from "./button.js";

export function Login() {
  const [token, setToken] = useState("");
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    setBusy(true);
    try {
      await (source.value ?? httpSource("")).login(tokenIn(token));
      location.reload();
    } catch (problem) {
      const { status, message } = /** @type {any} */ (problem);
      setError(status === 401 || status === 403 ? t("shell.login_wrong") : status === 0 ? t("shell.error_unreached") : message);
      setBusy(false);
    }
  }
  return html`<main class="login"><form class="panel login-panel" onSubmit=${submit}>
    <h1>${t("shell.login_title")}</h1>
    <p>${t("shell.login_how")}</p>
    <pre class="code">overtone ui</pre>
    <p class="faint">${t("shell.login_forward")}</p>
    <label class="field">${t("shell.login_token")}
      <input type="password" autocomplete="current-password" value=${token} required spellcheck=${false}
        aria-invalid=${error ? "true" : undefined} aria-describedby="login-error"
        onInput=${(/** @type {any} */ e) => setToken(e.target.value)} /></label>
    <p id="login-error" class="field-error" role="alert">${error}</p>
    <${Button} type="submit" kind="primary" isDisabled=${isBusy || !token.trim()} label=${t("shell.login_enter")} />
  </form></main>`;
}

/** @param {string} text A token, or a whole address that holds one. */
export function tokenIn(text) {
  return /[#&?]token=([^&\s]+)/.exec(text)?.[1] ?? text.trim();
}
