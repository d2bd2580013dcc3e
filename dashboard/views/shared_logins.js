/** The card of the displays whose login two devices use. */
import { h } from "../vendor/preact.js";
import { now } from "../lib/clock.js";
import { kept, narrowed } from "../lib/filter.js";
import { clients } from "../lib/fleet.js";
import { nameAndSite } from "../lib/format.js";
import { html } from "../lib/html.js";
import { openDisplay } from "../lib/url.js";
import { causeWords } from "../lib/words/trouble.js";
import { Glyph } from "./parts.js";

/** @typedef {import("../lib/types").Client} Client */

const SHOWN = 3_600_000; // as long as recovery leaves such a display alone
const NAMED = 5;

/** The displays whose login two devices used lately, as far as the filters keep them. */
export const sharedLogins = () =>
  [...clients.values()].filter(
    (client) =>
      client.shared_login_seen_at &&
      now.value - Date.parse(client.shared_login_seen_at) < SHOWN &&
      (!narrowed.value || kept(client)),
  );

/** @param {{found: Client[]}} props */
export function SharedLogins({ found }) {
  return html`<li class="trouble-card mild">
    ${h(Glyph, { shape: "warning" })}
    <div><h2>${causeWords.shared({ n: found.length })}</h2><p>${causeWords.sharedWhy}</p></div>
    <div class="buttons">${found.slice(0, NAMED).map(
      (client) => html`<button class="plain" key=${client.uuid} onClick=${() => openDisplay(client.uuid)}>
        ${nameAndSite(client)}</button>`,
    )}${found.length > NAMED && html`<span class="quiet">${causeWords.andMore({ n: found.length - NAMED })}</span>`}</div>
  </li>`;
}
