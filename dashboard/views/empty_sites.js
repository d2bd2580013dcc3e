/** Says of what names sites that no display is at some of them. */
import { anyOf } from "../lib/lists.js";
import { html } from "../lib/html.js";
import { emptySitesWords } from "../lib/words/empty_sites.js";

/** @param {{sites: string[]}} props */
export function EmptySites({ sites }) {
  return sites.length > 0 && html`<span class="cause">${emptySitesWords.none({ sites: anyOf(sites) })}</span>`;
}
