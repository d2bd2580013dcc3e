/** The way to the page of quiet times, from where what it does was once. */
import { html } from "../lib/html.js";
import { goToView } from "../lib/url.js";
import { commonWords } from "../lib/words/common.js";

/** @param {{text: string}} props text: the sentence up to the link */
export function QuietLink({ text }) {
  /** @param {MouseEvent} event */
  const go = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab or window is the browser's business
    event.preventDefault();
    goToView("quiet");
  };
  return html`<p class="quiet">${text} <a href="?v=quiet" onClick=${go}>${commonWords.quietTimes}</a>.</p>`;
}
