/** A password of one's own: asked for before anything else where a machine made the first one, and in the settings. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { changePassword } from "../lib/api/account.js";
import { ApiProblem } from "../lib/api/call.js";
import { html } from "../lib/html.js";
import { mustChangePassword } from "../lib/session.js";
import { passwordWords } from "../lib/words/password.js";
import { wordsOf } from "../lib/problems.js";

/** @param {unknown} error */
const passwordRefusal = (error) =>
  error instanceof ApiProblem && error.status === 401 ? passwordWords.wrong : wordsOf(error);

/** Asks for the present password and a new one. @param {{done: () => void}} props */
export function PasswordForm({ done }) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState("");
  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    setBusy(true);
    setFailed("");
    try {
      await changePassword(String(form.get("current")), String(form.get("fresh")));
      mustChangePassword.value = false;
      done();
    } catch (error) {
      setFailed(passwordRefusal(error));
    }
    setBusy(false);
  }
  return html`<form class="sign-in" onSubmit=${submit}>
    <label>${passwordWords.current}<input name="current" type="password" autocomplete="current-password" required
        autofocus /></label>
    <label>${passwordWords.fresh}<input name="fresh" type="password" autocomplete="new-password" required /></label>
    <p class="form-error" role="alert">${failed}</p>
    <button class="primary" disabled=${busy}>${busy ? passwordWords.going : passwordWords.go}</button>
  </form>`;
}

export function NewPasswordPage() {
  return html`<main class="sign-in-page" id="main">
    <div class="sign-in-card">
      <h1>${passwordWords.title}</h1>
      <p class="quiet">${passwordWords.why}</p>
      ${h(PasswordForm, { done: () => {} })}
    </div>
  </main>`;
}
