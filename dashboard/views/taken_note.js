/** The note that whoever looks after a trouble leaves for colleagues. */
import { html } from "../lib/html.js";
import { editWords } from "../lib/words/edit.js";

/** @param {{note: string, keep: (note: string) => void}} props */
export function TakenNote({ note, keep }) {
  /** @param {SubmitEvent} event */
  const save = (event) => {
    event.preventDefault();
    keep(String(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get("note")));
  };
  return html`<form onSubmit=${save}><input name="note" value=${note} maxlength="500" aria-label=${editWords.teamNote}
      placeholder=${editWords.teamNote} ref=${(/** @type {HTMLInputElement | null} */ input) => input?.focus()} />
    <button class="plain">${editWords.go}</button></form>`;
}
