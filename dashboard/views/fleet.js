/** The fleet page: what has failed, how many stand how, what needs a person, and every display. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { clients, failing, overview, version } from "../lib/fleet.js";
import { html } from "../lib/html.js";
import { tableWords, failureWords } from "../lib/words/fleet.js";
import { frameWords } from "../lib/words/frame.js";
import { Attention } from "./attention.js";
import { ConnectButton, ConnectDialog } from "./connect_button.js";
import { DisplaysTable } from "./displays_table.js";
import { FailedPanel } from "./failed_panel.js";
import { lazy } from "./lazy.js";
import { Loading } from "./parts.js";
import { Tiles } from "./tiles.js";

const EmptyFleet = lazy(async () => (await import("./empty_fleet.js")).EmptyFleet);
const Acknowledged = lazy(async () => (await import("./acknowledged.js")).Acknowledged);

/** Asks anew each time it is opened. */
function RecentlyAcknowledged() {
  const [open, setOpen] = useState(false);
  /** @param {Event} event */
  const toggle = (event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open);
  return html`<details class="acknowledged" onToggle=${toggle}>
    <summary>${failureWords.recent}</summary>
    ${open && h(Acknowledged, {})}
  </details>`;
}

function NothingYet() {
  return html`<div class="page-head"><h1>${frameWords.nav.fleet}</h1></div>
    ${
      failing.value
        ? html`<div class="card"><p class="note">${tableWords.nothingYet}</p>
        </div>`
        : h(Loading, { rows: 6 })
    }`;
}

export function FleetPage() {
  void version.value;
  if (!overview.value) return h(NothingYet, {}); // unavailable is never shown as empty
  const empty = clients.size === 0;
  return html`<div class="page-head"><h1>${frameWords.nav.fleet}</h1>${!empty && h(ConnectButton, { look: "plain" })}
    </div>
    ${h(FailedPanel, {})}
    ${empty ? h(EmptyFleet, {}) : [h(Tiles, {}), h(Attention, {}), h(DisplaysTable, {}), h(RecentlyAcknowledged, {})]}
    ${h(ConnectDialog, {})}`;
}
