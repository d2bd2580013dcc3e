/** What can be done with the chosen displays; the dialog is fetched when it opens. */
import { h } from "../vendor/preact.js";
import { signal } from "../vendor/signals.js";
import { overview, updating } from "../lib/fleet.js";
import { html } from "../lib/html.js";
import { chooseNone, chosen } from "../lib/selection.js";
import { mayAdminister } from "../lib/session.js";
import { S } from "../lib/strings.js";
import { lazy } from "./lazy.js";

/** @typedef {import("../lib/types").Action} Action */

/** The action that the dialog asks about; null while it is closed. */
export const asking = signal(/** @type {Action | null} */ (null));

const Dialog = lazy(async () => (await import("./bulk.js")).BulkDialog);
/** @type {Action[]} */
const ACTIONS = ["restart_app", "reboot_host", "shutdown_host"];

/** Why nothing can be sent now, or "". */
function blocked() {
  if (!updating.value) return S.live.reason;
  return overview.value?.bridge.state === "silent" ? S.pick.silent : "";
}

export function BulkBar() {
  const { length } = chosen.value;
  const why = blocked();
  return html`${
    length > 0 &&
    html`<div class="bulk-bar" role="region" aria-label=${S.pick.region}><strong role="status">${S.pick.chosen(length)}</strong>
      ${ACTIONS.filter((action) => action !== "shutdown_host" || mayAdminister.value).map(
        (action) =>
          html`<button key=${action} class=${action === "shutdown_host" ? "danger" : "plain"} disabled=${why !== ""} title=${why} onClick=${() => (asking.value = action)}>${S.command.action[action]}…</button>`,
      )}
      <button class="link" onClick=${chooseNone}>${S.pick.none}</button></div>`
  }
    ${asking.value && h(Dialog, { action: asking.value, uuids: chosen.value })}`;
}
