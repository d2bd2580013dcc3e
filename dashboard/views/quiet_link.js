/** The way to the page of quiet times, from where what it does was once. */
import { html } from "../lib/html.js";
import { goToView } from "../lib/url.js";
import { commonWords } from "../lib/words/first.js";

/** @param {{text: string}} props text: a sentence with … where the link stands */
export function QuietLink({ text }) {
  /** @param {MouseEvent} event */
  const go = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab or window is the browser's business
    event.preventDefault();
    goToView("quiet");
  };
  const [before, after] = text.split("…");
  return html`<p class="quiet">${before}<a href="?v=quiet" onClick=${go}>${commonWords.quietTimes}</a>${after}</p>`;
}
