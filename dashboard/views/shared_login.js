/** Two devices with one login, in the panel of their display: what it means, and the code that ends it. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { exact } from "../lib/format.js";
import { html } from "../lib/html.js";
import { mayAdminister } from "../lib/session.js";
import { displayWords } from "../lib/words/display.js";
import { wordsOf } from "../lib/problems.js";
import { MadeCode, useNewCode } from "./new_code.js";
import { Glyph } from "./parts.js";

/** @param {{uuid: string, at: string}} props at: when two devices were seen last */
export function SharedLogin({ uuid, at }) {
  const [failed, setFailed] = useState("");
  const { made, make } = useNewCode(uuid, (error) => setFailed(wordsOf(error)));
  return html`<section class="panel-failure" aria-label=${displayWords.oddLogin}>
    <p>${h(Glyph, { shape: "warning" })}<strong>${displayWords.oddLogin}</strong></p>
    <p>${displayWords.sharedLogin({ time: exact(at) })}</p>
    ${made && h(MadeCode, { made })}
    ${
      mayAdminister.value
        ? html`<p class="quiet">${made ? displayWords.sharedHow({ time: exact(made.expires_at) }) : displayWords.sharedAsk}</p>
            <div class="buttons"><button class="plain" onClick=${make}>${displayWords.newCode}</button></div>`
        : html`<p class="quiet">${displayWords.sharedAskAdmin}</p>`
    }
    <p class="form-error" role="alert">${failed}</p>
  </section>`;
}
