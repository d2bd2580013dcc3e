/** What can be done with the chosen displays; the dialog is fetched when it opens. */
import { h } from "../vendor/preact.js";
import { overview, updating } from "../lib/fleet.js";
import { html } from "../lib/html.js";
import { asking, chooseNone, chosen } from "../lib/selection.js";
import { mayAdminister } from "../lib/session.js";
import { commonWords } from "../lib/words/common.js";
import { batchWords } from "../lib/words/batches.js";
import { actionWords } from "../lib/words/states.js";
import { lazy } from "./lazy.js";

/** @typedef {import("../lib/types").Action} Action */

const Dialog = lazy(async () => (await import("./bulk.js")).BulkDialog);
/** @type {Action[]} */
const ACTIONS = ["restart_app", "reboot_host", "shutdown_host", "screen_on", "screen_off"];

/** Why nothing can be sent now, or "". */
function blocked() {
  if (!updating.value) return commonWords.outOfDate;
  return overview.value?.bridge.state === "silent" ? batchWords.silent : "";
}

export function BulkBar() {
  const { length } = chosen.value;
  const why = blocked();
  return html`${
    length > 0 &&
    html`<div class="bulk-bar" role="region" aria-label=${batchWords.region}>
      <strong role="status">${batchWords.selected(length)}</strong>
      ${ACTIONS.filter((action) => action !== "shutdown_host" || mayAdminister.value).map(
        (action) =>
          html`<button key=${action} class=${action === "shutdown_host" ? "danger" : "plain"} disabled=${why !== ""}
            title=${why} onClick=${() => (asking.value = action)}>${actionWords[action]}…</button>`,
      )}
      <button class="link" onClick=${chooseNone}>${batchWords.clear}</button></div>`
  }
    ${asking.value && h(Dialog, { action: asking.value, uuids: chosen.value })}`;
}
