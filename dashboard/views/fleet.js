/** The fleet page: what is wrong, the shops and every display. */
import { h } from "../vendor/preact.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { filtered, parts } from "../lib/filter.js";
import { clients, failing, failures, overview, places, total, version } from "../lib/fleet.js";
import { classes, html } from "../lib/html.js";
import { shopsOf } from "../lib/shops.js";
import { troubles } from "../lib/troubles.js";
import { unsteady, watchUnsteady } from "../lib/unsteady.js";
import { isUnwell } from "../lib/unwell.js";
import { frameWords, tableWords } from "../lib/words/first.js";
import { DisplaysTable } from "./displays_table.js";
import { Finder } from "./finder.js";
import { lazy } from "./lazy.js";
import { Loading } from "./parts.js";
import { Shops } from "./shops.js";
import { Tiles } from "./tiles.js";

// What is wrong is fetched when something is: the page of a fleet that is well does not wait for it.
const ConnectButton = lazy(async () => (await import("./connect_button.js")).ConnectButton, {
  bare: true,
  small: true,
});
const ConnectDialog = lazy(async () => (await import("./connect_button.js")).ConnectDialog, {
  bare: true,
  small: true,
});
const Causes = lazy(async () => (await import("./causes.js")).Causes, { bare: true, small: true });
const FailedPanel = lazy(async () => (await import("./failed_panel.js")).FailedPanel, { bare: true, small: true });
const Attention = lazy(async () => (await import("./attention.js")).Attention, { bare: true, small: true });
const Mended = lazy(async () => (await import("./mended.js")).Mended, { bare: true, small: true });
const EmptyFleet = lazy(async () => (await import("./empty_fleet.js")).EmptyFleet);
const Acknowledged = lazy(async () => (await import("./acknowledged.js")).Acknowledged);

/** Asks anew each time it is opened. */
function RecentlyAcknowledged() {
  const [open, setOpen] = useState(false);
  /** @param {Event} event */
  const toggle = (event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open);
  return html`<details class="acknowledged" onToggle=${toggle}>
    <summary>${tableWords.recent}</summary>
    ${open && h(Acknowledged, {})}
  </details>`;
}

function NothingYet() {
  return html`<div class="not-yet"><div class="page-head"><h1>${frameWords.nav.fleet}</h1></div>
    ${
      failing.value
        ? html`<div class="card"><p class="note">${tableWords.nothingYet}</p>
        </div>`
        : h(Loading, { rows: 6 })
    }</div>`;
}

/** Whether these parts are there, if the first answer asks for them: what comes later would push the rest away. */
function useFetched(/** @type {{load: () => Promise<void>}[]} */ parts, /** @type {boolean} */ needed) {
  const [fetched, setFetched] = useState(!needed);
  useEffect(() => {
    if (!fetched) Promise.allSettled(parts.map((part) => part.load())).then(() => setFetched(true));
  }, []);
  return fetched;
}

export function FleetPage() {
  void version.value;
  return overview.value ? h(Known, {}) : h(NothingYet, {}); // unavailable is never shown as empty
}

function Known() {
  if (!useFetched([Causes, FailedPanel, Attention], troubles.value > 0 || failures.value.length > 0))
    return h(NothingYet, {});
  const empty = total.value === 0;
  return html`<div class="page-head">${empty ? html`<h1>${frameWords.nav.fleet}</h1>` : h(Headline, {})}
      ${!empty && h(ConnectButton, { look: "plain" })}</div>
    ${empty ? h(EmptyFleet, {}) : h(Parts, {})}
    ${h(ConnectDialog, {})}`;
}

/** How many screens are fine; beside it the dark sites, and how many other displays are not. */
function Headline() {
  const shops = shopsOf(clients.values(), places.value);
  const n = shops.reduce((sum, shop) => sum + shop.unwell, 0);
  const dark = shops.filter((shop) => shop.site !== null && shop.total > 1 && shop.unwell === shop.total);
  const rest = dark.reduce((left, shop) => left - shop.unwell, n);
  const all = total.value;
  const known = all - (overview.value?.counts.unknown ?? 0);
  return html`<div><h1 class="headline">${known ? tableWords.fine({ n: Math.max(0, known - n), all_n: all }) : frameWords.nav.fleet}</h1>
    <p class="quiet">${[
      dark.length && tableWords.dark({ n: dark.length }),
      rest && tableWords.others({ n: rest }),
      all - known && tableWords.unknown({ n: all - known }),
    ]
      .filter(Boolean)
      .join(" · ")}</p></div>`;
}

/** What is wrong comes first; while a filter is on, the table does. */
function Parts() {
  const first = filtered.value;
  useEffect(watchUnsteady, []);
  useStillFocus(first);
  useEffect(() => {
    if (first) scrollTo({ top: 0 }); // what the filter keeps begins there
  }, [parts.value]);
  const rows = [...clients.values()];
  const anyCause = useEver(
    () => overview.value?.incidents.length || unsteady.value.size || rows.some((row) => row.shared_login_seen_at),
  );
  const anyFailure = useEver(() => failures.value.length);
  const anyUnwell = useEver(() => rows.some(isUnwell));
  const wrong = [anyCause && h(Causes, { key: "causes" }), anyFailure && h(FailedPanel, { key: "failed" })];
  const rest = [anyUnwell && h(Attention, { key: "attention" })];
  const ways = [h(Shops, { key: "shops" }), h(Tiles, { key: "tiles" })];
  const table = h(DisplaysTable, { key: "table" });
  const [shops, tiles] = ways;
  const order = first ? [...ways, table, ...wrong, ...rest] : [shops, ...wrong, tiles, ...rest, table];
  return html`<div class=${classes("fleet", first && "filtered")}>
    ${h(Finder, { key: "finder" })}${order}${h(Mended, { key: "mended" })}${h(RecentlyAcknowledged, { key: "acknowledged" })}</div>`;
}

/** Whether this was ever so while the page was open. @param {() => unknown} isNow */
function useEver(isNow) {
  const ever = useRef(false);
  ever.current ||= !!isNow();
  return ever.current;
}

/** A part that moves loses the focus; it gets it back. @param {boolean} about */
function useStillFocus(about) {
  const had = document.activeElement;
  useLayoutEffect(() => {
    if (had instanceof HTMLElement && had.isConnected && document.activeElement !== had)
      had.focus({ preventScroll: true });
  }, [about]);
}
