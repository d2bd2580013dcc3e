/** The choice of the page's language. */
import { choose, chosen, LANGUAGES } from "../lib/language.js";
import { html } from "../lib/html.js";
import { languageWords } from "../lib/words/language.js";

/** @param {Event} event */
const change = (event) => choose(/** @type {HTMLSelectElement} */ (event.currentTarget).value);

export function LanguageChoice() {
  return html`<label>${languageWords.language}
    <select value=${chosen ?? ""} onChange=${change}>
      <option value="">${languageWords.asBrowser}</option>
      ${Object.entries(LANGUAGES).map(([tag, name]) => html`<option key=${tag} value=${tag} lang=${tag}>${name}</option>`)}
    </select></label>`;
}
