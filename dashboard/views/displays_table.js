/** The table of displays. Only the rows near the window are in the document: all have the same height. */
import { h } from "../vendor/preact.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { clients, isLocked, overview, places, total, version } from "../lib/fleet.js";
import { nameAndSite, nameOf } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { filtered, namesAPlace } from "../lib/filter.js";
import { active, onMove, wanted } from "../lib/keys.js";
import { quietWords } from "../lib/quiet.js";
import { asking, choose, chooseTo, chosen, isChosen } from "../lib/selection.js";
import { mayOperate } from "../lib/session.js";
import { nextSort } from "../lib/sorting.js";
import { changed, foundWords, resort, rows, sorting } from "../lib/table.js";
import { unsteady } from "../lib/unsteady.js";
import { passedWords } from "../lib/match.js";
import { isMute, serviceFails } from "../lib/unwell.js";
import { go, goToView, openDisplay, param } from "../lib/url.js";
import { frameWords, selectionWords, stepWords, tableWords } from "../lib/words/first.js";
import { lazy } from "./lazy.js";
import { Age, ExportButton, StatusBadge } from "./parts.js";

const ROW = 44; // pixels, equal to --row in style.css
const AROUND = 8; // rows kept ready above and below the window
const AT_LEAST = 30; // rows in the document even while the table is below the window

const BulkBar = lazy(async () => (await import("./bulk_bar.js")).BulkBar, { bare: true });
const DayBar = lazy(async () => (await import("./day_bar.js")).DayBar, { bare: true, small: true });
const LargeFleet = lazy(async () => (await import("./large_fleet.js")).LargeFleet, { bare: true, small: true });
const Pictures = lazy(async () => (await import("./pictures.js")).Pictures);
const selected = param("d");
const show = param("show");

/** Column key (as in the address; empty: nothing sorts by it), its heading, and the class that lets narrow windows drop it. */
const COLUMNS = /** @type {const} */ ([
  ["name", "name", "col-name"],
  ["status", "status", "col-status"],
  ["site", "site", "col-site"],
  ["hb", "heartbeat", "col-hb"],
  ["", "day", "col-day"],
  ["rc", "reconnects", "col-rc"],
  ["version", "version", "col-version"],
  ["ip", "ip", "col-ip"],
]);

/** @param {{column: string, title: string, name: string}} props */
function Heading({ column, title, name }) {
  if (!column) return html`<th scope="col" class=${name}>${title}</th>`;
  const { column: by, down } = sorting.value;
  const order = by === column ? (down ? "descending" : "ascending") : undefined;
  return html`<th scope="col" class=${name} aria-sort=${order}>
    <button onClick=${() => go({ sort: nextSort(sorting.value, column) }, { replace: true })}>
      ${title}<span class="sort-mark" aria-hidden="true">${order ? (down ? "↓" : "↑") : ""}</span>
    </button>
  </th>`;
}

/** With shift it chooses all rows from the one that was chosen before. @param {{uuid: string, name: string}} props */
function Pick({ uuid, name }) {
  const on = isChosen(uuid);
  /** @param {MouseEvent} event */
  const pick = (event) => chooseTo(rows.value, uuid, !on, event.shiftKey);
  return html`<td class="col-pick" onClick=${(/** @type {Event} */ event) => event.stopPropagation()}>
    <label class="pick"><input type="checkbox" aria-label=${selectionWords.one({ name })} checked=${on} onClick=${pick} /></label></td>`;
}

function PickAll() {
  const listed = rows.value;
  const on = listed.length > 0 && listed.every(isChosen);
  return html`<th scope="col" class="col-pick"><label class="pick">
      <input type="checkbox" aria-label=${selectionWords.all} checked=${on} onChange=${() => choose(listed, !on)} />
    </label></th>`;
}

/** @param {{uuid: string, index: number}} props index: place in the whole list, from 0 */
function Row({ uuid, index }) {
  void version.value;
  const link = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const isWanted = wanted.value === index;
  useEffect(() => {
    if (!isWanted) return;
    wanted.value = -1; // asked for once: a row that comes into the document later takes nobody's focus away
    link.current?.focus({ preventScroll: true });
  }, [isWanted]);
  const client = clients.get(uuid);
  if (!client) return null;
  const open = client.open_command?.state;
  const quiet = quietWords(client);
  return html`<tr aria-rowindex=${index + 2} class=${classes(selected.value === uuid && "selected")}
    onClick=${() => openDisplay(uuid)}>
    ${mayOperate.value && h(Pick, { uuid, name: nameAndSite(client) })}
    <td class="col-name"><button class="link strong" aria-label=${nameAndSite(client)} ref=${link} onFocus=${() => (active.value = index)}>
        ${nameOf(client)}<span class="below" data-quiet=${quiet && (client.site ? ` · ${quiet.word}` : quiet.word)}> ${client.site ?? ""}</span></button>
      ${serviceFails(client) && html`<span class="tag tag-orange">${tableWords.failed}</span>`}
      ${client.service_mended_at && html`<span class="tag">${tableWords.mended}</span>`}
      ${
        client.screen_failed_since &&
        html`<span class="tag tag-orange">${tableWords.screen({ how: client.screen_health })}</span>`
      }
      ${client.limits?.map((one) => html`<span class="tag tag-orange" key=${one.limit}>${passedWords(one)}</span>`)}
      ${isMute(client) && html`<span class="tag tag-orange" title=${client.recovery?.why}>${tableWords.mute}</span>`}
      ${
        unsteady.value.has(uuid) &&
        html`<span class="tag tag-amber"
          title=${tableWords.unsteadyHow({ losses_n: unsteady.value.get(uuid) ?? 0 })}>${tableWords.unsteady}</span>`
      }
      ${open && html`<span class="tag">${tableWords.open({ word: stepWords[open] ?? open })}</span>`}
      ${!open && isLocked(client) && html`<span class="tag">${tableWords.locked}</span>`}
      ${quiet && html`<span class="quiet row-quiet" title=${quiet.title}>${quiet.word}</span>`}</td>
    <td class="col-status">${h(StatusBadge, { status: client.status })}</td>
    <td class="col-site">${client.site ?? ""}</td>
    <td class="col-hb">${h(Age, { at: client.last_heartbeat_at })}</td>
    <td class="col-day">${h(DayBar, { uuid })}</td>
    <td class="col-rc">${client.mqtt_reconnect_count ?? ""}</td>
    <td class="col-version">${client.app_version ?? ""}</td>
    <td class="col-ip">${client.ip ?? ""}</td>
  </tr>`;
}

/**
 * Which rows are near the window.
 * @param {{current: HTMLElement | null}} body @param {number} total
 * @returns {[number, number]}
 */
function useWindow(body, total) {
  const [range, setRange] = useState(/** @type {[number, number]} */ ([0, AT_LEAST]));
  useEffect(() => {
    const measure = () => {
      const top = -(body.current?.getBoundingClientRect().top ?? 0);
      const first = Math.max(0, Math.floor(top / ROW) - AROUND);
      const last = Math.max(first + AT_LEAST, Math.ceil((top + innerHeight) / ROW) + AROUND);
      setRange((now) => (now[0] === first && now[1] === last ? now : [first, last]));
    };
    const observer = new ResizeObserver(measure); // what stands above the table grows and shrinks
    observer.observe(document.body);
    addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      removeEventListener("scroll", measure);
    };
  }, [total]);
  return [Math.min(range[0], total), Math.min(range[1], total)];
}

/** Stands for the rows that are not in the document. @param {{count: number}} props */
function Spacer({ count }) {
  return count > 0
    ? html`<tr class="spacer" aria-hidden="true"><td style=${{ height: `${count * ROW}px` }}></td></tr>`
    : null;
}

function Rows() {
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  const list = rows.value;
  const [first, last] = useWindow(body, list.length);
  useEffect(() => onMove(list.length, (index) => scrollToRow(body.current, index), pickRow), [list.length]);
  return html`<tbody ref=${body}>
    ${h(Spacer, { count: first })}
    ${list.slice(first, last).map((uuid, i) => h(Row, { key: uuid, uuid, index: first + i }))}
    ${h(Spacer, { count: list.length - last })}
  </tbody>`;
}

/** Choose the row, or give it up. @param {number} index */
function pickRow(index) {
  const uuid = rows.value[index];
  if (uuid && mayOperate.value) choose([uuid], !isChosen(uuid));
}

const saveRows = async () => (await import("../lib/exports.js")).saveDisplays(rows.value);

/** @param {HTMLElement | null} body @param {number} index */
function scrollToRow(body, index) {
  if (!body) return;
  const top = body.getBoundingClientRect().top + index * ROW;
  if (top < 2 * ROW || top > innerHeight - 2 * ROW) scrollBy({ top: top - innerHeight / 2 });
}

function Toolbar() {
  const moved = changed.value;
  return html`<div class="toolbar">
    <h2 id="displays-title">${tableWords.title} <span class="quiet">
        ${foundWords()}</span></h2>
    <span class="toolbar-status" role="status">${
      moved > 0 &&
      html`${tableWords.changed({ n: moved })} · <button class="link"
        onClick=${resort}>${tableWords.resort}</button>`
    }</span>
    ${
      mayOperate.value &&
      html`<button class=${classes("chip", show.value && "on")} aria-pressed=${show.value !== ""}
        onClick=${() => go({ show: show.value ? null : "pictures" })}>${tableWords.pictures}</button>`
    }
    ${h(ExportButton, { save: saveRows, title: tableWords.csv })}
    ${
      mayOperate.value &&
      html`<a class="link" href="?v=batches" onClick=${(/** @type {MouseEvent} */ event) => {
        if (!event.ctrlKey && !event.metaKey) {
          event.preventDefault();
          goToView("batches");
        }
      }}>${frameWords.nav.batches}</a>`
    }
  </div>`;
}

export function DisplaysTable() {
  void version.value;
  if (!overview.value || total.value === 0) return null;
  const listed = rows.value.length;
  return html`<section class="displays" aria-labelledby="displays-title">
    ${h(Toolbar, {})}
    ${places.value && h(LargeFleet, {})}
    ${(chosen.value.length > 0 || asking.value || (mayOperate.value && namesAPlace.value)) && h(BulkBar, {})}
    ${
      mayOperate.value && show.value
        ? h(Pictures, {})
        : html`<table aria-rowcount=${listed + 1} aria-labelledby="displays-title">
      <thead><tr aria-rowindex="1">${mayOperate.value && h(PickAll, {})}
          ${COLUMNS.map(([column, word, name]) => h(Heading, { key: column, column, title: tableWords[word], name }))}</tr></thead>
      ${h(Rows, {})}
    </table>`
    }
    ${listed === 0 && (!places.value || filtered.value) && html`<p class="note">${tableWords.nothing}</p>`}
  </section>`;
}
