/** A picture of a display's screen. */
import { screenshotUrl } from "../lib/api/screenshots.js";
import { exact } from "../lib/format.js";
import { html } from "../lib/html.js";
import { screenshotWords } from "../lib/words/screenshots.js";

/** @typedef {import("../lib/openapi").Screenshot} Screenshot */

/** @param {{one: Screenshot, name: string, small?: boolean}} props */
export function Picture({ one, name, small }) {
  return html`<img class=${small ? "thumb" : ""} src=${screenshotUrl(one.id)} loading="lazy"
    width=${one.width} height=${one.height} alt=${screenshotWords.alt({ name, time: exact(one.taken_at) })} />`;
}
