/** The list of single-key shortcuts, and the switch that turns them off. */
import { h } from "../vendor/preact.js";
import { html } from "../lib/html.js";
import { enable, enabled, helpOpen } from "../lib/keys.js";
import { shortcutWords } from "../lib/words/shortcuts.js";
import { Dialog } from "./dialog.js";

export function Help() {
  const body = html`<dl class="keys">${shortcutWords.list.map(
    ([key, what]) => html`<div key=${key}>
      <dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`,
  )}</dl>
    <p class="quiet">${shortcutWords.note}</p>
    <label class="check"><input type="checkbox" checked=${enabled.value} onChange=${() => enable(!enabled.value)} />
      ${shortcutWords.on}</label>`;
  return h(Dialog, { title: shortcutWords.title, onClose: () => (helpOpen.value = false), children: body });
}
