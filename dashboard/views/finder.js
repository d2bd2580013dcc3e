/** Search and the filters that are on. It stays at the top of the window. */
import { h } from "../vendor/preact.js";
import { clear, filtered, parts } from "../lib/filter.js";
import { version } from "../lib/fleet.js";
import { html } from "../lib/html.js";
import { moveTo } from "../lib/keys.js";
import { foundWords } from "../lib/table.js";
import { go, param } from "../lib/url.js";
import { finderWords, shopWords, statusWords } from "../lib/words/first.js";
import { Glyph } from "./parts.js";

const query = param("q");

/** A filter in words. @param {string} key @param {string} value */
function wordOf(key, value) {
  if (key === "status") return value === "unsteady" ? finderWords.unsteady : (statusWords[value] ?? value);
  if (key === "nosite") return shopWords.none;
  if (key === "tag") return finderWords.tag({ tag: value });
  return key === "incident" ? finderWords.incident({ id: value }) : value;
}

/** @param {{name: string, value: string}} props */
function Part({ name, value }) {
  const word = wordOf(name, value);
  return html`<button class="chip on" aria-label=${finderWords.without({ part: word })} onClick=${() => go({ [name]: null })}>
    ${word}${h(Glyph, { shape: "close" })}</button>`;
}

export function Finder() {
  void version.value;
  /** @param {InputEvent} event */
  const type = (event) => go({ q: /** @type {HTMLInputElement} */ (event.currentTarget).value }, { replace: true });
  /** The first row takes the focus. @param {KeyboardEvent} event */
  const enter = (event) => {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    moveTo(0);
  };
  return html`<div class="finder" role="search" aria-label=${finderWords.region}>
    <input type="search" class="search" aria-label=${finderWords.searchLabel} placeholder=${finderWords.search}
      value=${query.value} onInput=${type} onKeyDown=${enter} aria-keyshortcuts="/" />
    <span class="quiet finder-found" role="status">${foundWords()}</span>
    ${parts.value
      .filter(([key]) => key !== "q")
      .map(([name, value]) => h(Part, { key: name, name, value: String(value) }))}
    ${filtered.value && html`<button class="link" onClick=${clear}>${finderWords.clear}</button>`}
  </div>`;
}
