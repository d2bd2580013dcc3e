/** A form in a dialog that does one thing, and says in place what was refused. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { html } from "../lib/html.js";
import { commonWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { Dialog } from "./dialog.js";

/** @typedef {{title: string, go: string, look?: string, wide?: boolean, children?: any}} Shown */
/** @typedef {{act: (form: FormData) => Promise<any>, done: (answer: any) => void, close: () => void}} Does */

/** `done` is told what `act` answered. @param {Shown & Does} props */
export function FormDialog({ title, go, look = "primary", wide = false, act, done, close, children }) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState("");
  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    setBusy(true);
    setFailed("");
    try {
      done(await act(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget))));
    } catch (error) {
      setFailed(wordsOf(error));
      setBusy(false);
    }
  }
  const body = html`<form class="connect" onSubmit=${submit}>
    ${children}
    <p class="form-error" role="alert">${failed}</p>
    <div class="dialog-foot"><button type="button" class="plain" onClick=${close}>${commonWords.cancel}</button>
      <button class=${look} disabled=${busy}>${busy ? commonWords.working : go}</button></div>
  </form>`;
  return h(Dialog, { title, wide, onClose: close, children: body });
}
