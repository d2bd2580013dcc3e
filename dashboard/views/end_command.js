/** End a command that the display may have: asked for with a reason, by admins only. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { endAnyway } from "../lib/commands.js";
import { html } from "../lib/html.js";
import { mayAdminister } from "../lib/session.js";
import { commandWords } from "../lib/words/commands.js";
import { commonWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { Dialog } from "./dialog.js";

/** @param {{uuid: string, name: string, close: () => void}} props */
function Ask({ uuid, name, close }) {
  const [failed, setFailed] = useState("");
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    endAnyway(uuid, String(form.get("reason")).trim()).then(close, (error) => setFailed(wordsOf(error)));
  };
  const body = html`<form class="connect" onSubmit=${submit}><p><strong>${name}</strong></p><p>${commandWords.end.text}
    </p>
    <label>${commandWords.end.reason}<input name="reason" required maxlength="500" pattern=".*\\S.*" autocomplete="off"
        autofocus /></label>
    <p class="form-error" role="alert">${failed}</p>
    <div class="dialog-foot"><button type="button" class="plain" onClick=${close}>${commonWords.cancel}</button>
      <button class="danger">${commandWords.end.go}</button></div></form>`;
  return h(Dialog, { title: commandWords.end.title, onClose: close, children: body });
}

/** The button and its question. @param {{uuid: string, name: string}} props */
export function EndAnyway({ uuid, name }) {
  const [asking, setAsking] = useState(false);
  if (!mayAdminister.value) return null;
  return html`<button class="plain" title=${commandWords.end.text} onClick=${() => setAsking(true)}>
      ${commandWords.end.button}</button>
    ${asking && h(Ask, { uuid, name, close: () => setAsking(false) })}`;
}
