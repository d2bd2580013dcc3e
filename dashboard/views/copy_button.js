/** A button that puts a text on the clipboard. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { html } from "../lib/html.js";
import { commonWords } from "../lib/words/first.js";
import { Glyph } from "./parts.js";

/** Copies a text and says so for two seconds. @param {{text: string, label: string}} props */
export function CopyButton({ text, label }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 2000);
  };
  if (!navigator.clipboard) return null; // a page over plain HTTP may not write the clipboard
  return html`<button class="icon" aria-label=${label} title=${label} onClick=${copy}>
    ${h(Glyph, { shape: done ? "running" : "copy" })}
    <span class="visually-hidden" role="status">${done ? commonWords.copied : ""}</span>
  </button>`;
}
