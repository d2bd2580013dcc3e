/** The list of single-key shortcuts, and the switch that turns them off. */
import { h } from "../vendor/preact.js";
import { html } from "../lib/html.js";
import { enable, enabled, helpOpen } from "../lib/keys.js";
import { shortcutWords } from "../lib/words/shortcuts.js";
import { Dialog } from "./dialog.js";

const KEYS = /** @type {const} */ ([
  ["/", "search"],
  ["j  k", "step"],
  ["Enter", "open"],
  ["x", "select"],
  ["Esc", "close"],
  ["g f", "fleet"],
  ["g l", "logs"],
  ["g c", "presentations"],
  ["g i", "incidents"],
  ["g q", "quiet"],
  ["g a", "availability"],
  ["g s", "settings"],
  ["?", "help"],
]);

export function Help() {
  const body = html`<dl class="keys">${KEYS.map(
    ([key, what]) => html`<div key=${key}>
      <dt><kbd>${key}</kbd></dt><dd>${shortcutWords.keys[what]}</dd></div>`,
  )}</dl>
    <p class="quiet">${shortcutWords.note}</p>
    <label class="check"><input type="checkbox" checked=${enabled.value} onChange=${() => enable(!enabled.value)} />
      ${shortcutWords.on}</label>`;
  return h(Dialog, { title: shortcutWords.title, onClose: () => (helpOpen.value = false), children: body });
}
