/** What can be done with the chosen displays; the dialog is fetched when it opens. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { overview, updating } from "../lib/fleet.js";
import { classes, html } from "../lib/html.js";
import { asking, choose, chooseNone, chosen } from "../lib/selection.js";
import { mayAdminister } from "../lib/session.js";
import { rows } from "../lib/table.js";
import { actionWords, commonWords } from "../lib/words/first.js";
import { batchWords } from "../lib/words/batches.js";
import { editWords } from "../lib/words/edit.js";
import { lazy } from "./lazy.js";

/** @typedef {import("../lib/types").Action} Action */

const Dialog = lazy(async () => (await import("./bulk.js")).BulkDialog);
const QuietDialog = lazy(async () => (await import("./quiet_form.js")).QuietDialog);
const Later = lazy(async () => (await import("./schedule_form.js")).ScheduleDialog);
const EditMany = lazy(async () => (await import("./edit_display.js")).EditMany, { bare: true });
/** @type {Action[]} */
const ACTIONS = ["restart_app", "reboot_host", "shutdown_host", "screen_on", "screen_off"];

const FOR_MANY = ["hold", "snooze", "maintenance", "leave_out"];

/** Why nothing can be sent now, or "". */
function blocked() {
  if (!updating.value) return commonWords.outOfDate;
  return overview.value?.bridge.state === "silent" ? batchWords.silent : "";
}

/** For the selected displays; without any for all that are listed, which are selected with the first press. */
export function BulkBar() {
  const { length } = chosen.value;
  const count = length || rows.value.length;
  /** @param {() => void} act */
  const forThese = (act) => () => {
    if (!chosen.value.length) choose(rows.value, true);
    act();
  };
  const [editing, setEditing] = useState(/** @type {string[] | null} */ (null));
  const why = blocked();
  const [later, setLater] = useState(false);
  const [quiet, setQuiet] = useState(/** @type {string[] | null} */ (null)); // what is chosen meanwhile changes nothing
  return html`${
    count > 0 &&
    html`<div class=${classes("bulk-bar", length === 0 && "unasked")} role="region" aria-label=${batchWords.region}>
      <strong role="status">${length ? batchWords.selected({ n: length }) : batchWords.listed({ n: count })}</strong>
      ${ACTIONS.filter((action) => action !== "shutdown_host" || (length > 0 && mayAdminister.value)).map(
        (action) =>
          html`<button key=${action} class=${action === "shutdown_host" ? "danger" : "plain"} disabled=${why !== ""}
            title=${why} onClick=${forThese(() => (asking.value = action))}>${actionWords[action]}…</button>`,
      )}
      <button class="plain" onClick=${forThese(() => setLater(true))}>${batchWords.later}</button>
      <button class="plain" onClick=${forThese(() => setQuiet(chosen.value))}>${batchWords.quiet}</button>
      <button class="plain" disabled=${!updating.value} onClick=${forThese(() => setEditing(chosen.value))}>
        ${editWords.manyButton}</button>
      ${length > 0 && html`<button class="link" onClick=${chooseNone}>${batchWords.clear}</button>`}</div>`
  }
    ${editing && h(EditMany, { uuids: editing, close: () => setEditing(null) })}
    ${asking.value && h(Dialog, { action: asking.value, uuids: chosen.value })}
    ${later && h(Later, { uuids: chosen.value, close: () => setLater(false) })}
    ${
      quiet &&
      h(QuietDialog, {
        preset: "hold",
        presets: FOR_MANY,
        whom: { scope: "clients", clients: quiet },
        close: () => setQuiet(null),
        done: () => setQuiet(null),
      })
    }`;
}
