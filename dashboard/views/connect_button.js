/** The ways to the dialog that connects a display; the dialog itself is fetched when it opens. */
import { h } from "../vendor/preact.js";
import { signal } from "../vendor/signals.js";
import { html } from "../lib/html.js";
import { mayAdminister } from "../lib/session.js";
import { S } from "../lib/strings.js";
import { lazy } from "./lazy.js";

/** Whether the dialog is open. Not the button's own state: the first code ends the empty page the button stood on. */
export const connecting = signal(false);

const Dialog = lazy(async () => (await import("./connect_display.js")).ConnectDialog);

/** What stands where the table will be. */
export function EmptyFleet() {
  return html`<section class="empty" aria-labelledby="empty-title">
    <h2 id="empty-title">${S.empty.title}</h2>
    <p>${mayAdminister.value ? S.empty.admin : S.empty.other}</p>
    ${h(ConnectButton, { look: "primary" })}
  </section>`;
}

/** @param {{look: "primary" | "plain"}} props */
export function ConnectButton({ look }) {
  if (!mayAdminister.value) return null;
  return html`<button class=${look} onClick=${() => (connecting.value = true)}>${S.empty.connect}</button>`;
}

export function ConnectDialog() {
  return connecting.value ? h(Dialog, {}) : null;
}
