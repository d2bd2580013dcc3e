/** What stands where the table will be, before the first display. */
import { h } from "../vendor/preact.js";
import { html } from "../lib/html.js";
import { mayAdminister } from "../lib/session.js";
import { enrolmentWords } from "../lib/words/enrolment.js";
import { ConnectButton } from "./connect_button.js";

export function EmptyFleet() {
  return html`<section class="empty" aria-labelledby="empty-title">
    <h2 id="empty-title">${enrolmentWords.emptyTitle}</h2>
    <p>${mayAdminister.value ? enrolmentWords.lead : enrolmentWords.emptyOther}</p>
    ${h(ConnectButton, { look: "primary" })}
  </section>`;
}
