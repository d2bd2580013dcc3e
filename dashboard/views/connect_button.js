/** The ways to the dialog that connects a display; the dialog itself is fetched when it opens. */
import { h } from "../vendor/preact.js";
import { signal } from "../vendor/signals.js";
import { html } from "../lib/html.js";
import { mayAdminister } from "../lib/session.js";
import { tableWords } from "../lib/words/first.js";
import { lazy } from "./lazy.js";

/** Whether the dialog is open. Not the button's own state: the first code ends the empty page the button was on. */
const connecting = signal(false);

const Dialog = lazy(async () => (await import("./connect_display.js")).ConnectDialog);

/** @param {{look: "primary" | "plain"}} props */
export function ConnectButton({ look }) {
  if (!mayAdminister.value) return null;
  return html`<button class=${look} onClick=${() => (connecting.value = true)}>${tableWords.connect}</button>`;
}

export function ConnectDialog() {
  return connecting.value ? h(Dialog, { close: () => (connecting.value = false) }) : null;
}
