/** A new enrolment code for a display that is known: made on a press, and shown once. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { createEnrolment } from "../lib/api/enrolment.js";
import { html } from "../lib/html.js";
import { commonWords } from "../lib/words/first.js";
import { displayWords } from "../lib/words/display.js";
import { CopyButton } from "./copy_button.js";

/** @typedef {{code: string, expires_at: string}} Code */

/** The code that was made, if any, and how to make one. @param {string} uuid @param {(error: unknown) => void} fail */
export function useNewCode(uuid, fail) {
  const [made, setMade] = useState(/** @type {Code | null} */ (null));
  return { made, make: () => createEnrolment(uuid).then(setMade, fail) };
}

/** @param {{made: Code}} props */
export function MadeCode({ made }) {
  return html`<p class="code"><code>${made.code}</code>
    ${h(CopyButton, { text: made.code, label: `${commonWords.copy}: ${displayWords.newCode}` })}</p>`;
}
