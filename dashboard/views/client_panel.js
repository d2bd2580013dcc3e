/** Everything about one display, beside the page it was opened from. */
import { h } from "../vendor/preact.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { ApiProblem } from "../lib/api/call.js";
import { removeClient } from "../lib/api/enrolment.js";
import { getClient } from "../lib/api/fleet.js";
import { displays } from "../lib/api/large_fleet.js";
import { now } from "../lib/clock.js";
import { marks } from "../lib/failures.js";
import { clients, failures, places, refresh, take, version } from "../lib/fleet.js";
import { exact, nameOf } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { listed } from "../lib/lists.js";
import { poll } from "../lib/poll.js";
import { mayAdminister, mayOperate } from "../lib/session.js";
import { isUnwell } from "../lib/unwell.js";
import { closeDisplay, go, param } from "../lib/url.js";
import { commonWords, offByWords, screenWords, statusMeanings } from "../lib/words/first.js";
import { displayWords } from "../lib/words/display.js";
import { editWords } from "../lib/words/edit.js";
import { attentionWords } from "../lib/words/trouble.js";
import { wordsOf } from "../lib/problems.js";
import { Faults, IncidentLink, recoveryWhy } from "./attention.js";
import { ClientCommands } from "./client_commands.js";
import { ClientEvents } from "./client_events.js";
import { ClientHealth } from "./client_health.js";
import { ClientLogs } from "./client_logs.js";
import { ClientQuietBox } from "./client_quiet.js";
import { ClientRecoveryBox } from "./client_recovery.js";
import { ClientRefused, Refused } from "./client_refused.js";
import { ClientSchedules } from "./client_schedules.js";
import { ClientScreenshots } from "./client_screenshots.js";
import { CommandBox } from "./command_box.js";
import { CopyButton } from "./copy_button.js";
import { EditDisplay } from "./edit_display.js";
import { Acknowledge, OnIt } from "./failed_panel.js";
import { IsMended } from "./is_mended.js";
import { MadeCode, useNewCode } from "./new_code.js";
import { Age, Glyph, Loading, StatusBadge, Time } from "./parts.js";
import { SharedLogin } from "./shared_login.js";
import { UptimeStrip } from "./uptime.js";

/** @typedef {import("../lib/types").Client} Client */

const PERIOD = 5_000;
const chosen = param("d");
const tab = param("tab");
const level = param("level");
const logText = param("lq");

/** The row of the overview (fresher) with what only the display's own page tells. @param {string} uuid */
function useClient(uuid) {
  void version.value;
  const [details, setDetails] = useState(/** @type {Client | null} */ (null));
  const [gone, setGone] = useState(false);
  useEffect(() => {
    setDetails(null);
    setGone(false);
    if (places.value && !clients.has(uuid)) take(() => displays({ client: uuid })).catch(() => {}); // its details come below
    const polling = poll(
      async (abort) => setDetails(await getClient(uuid, abort)),
      () => PERIOD,
      (error) => {
        if (!(error instanceof ApiProblem) || (error.status !== 404 && error.status !== 400)) return;
        setGone(true);
        polling.stop();
      },
    );
    return polling.stop;
  }, [uuid]);
  const row = clients.get(uuid);
  const client =
    details?.uuid === uuid ? { ...details, ...row, last_heartbeat_at: newest(details, row) } : (row ?? null);
  return { client, gone };
}

/** @param {Client} details @param {Client | undefined} row */
function newest(details, row) {
  const times = [details.last_heartbeat_at, row?.last_heartbeat_at].filter((at) => at != null);
  return times.sort((a, b) => Date.parse(b) - Date.parse(a))[0] ?? null;
}

/** @param {{name: string, children?: any}} props */
function Fact({ name, children }) {
  return html`<div class="fact"><dt>${name}</dt><dd>${children}</dd></div>`;
}

/** What the display last saw on its screen, and when. @param {{client: Client}} props */
function Shows({ client }) {
  const { page, health } = client;
  if (!page || !health) return displayWords.notSeen;
  const kind = page.kind === "page" && page.address ? "" : displayWords.glass[page.kind];
  return html`${[kind, page.title, page.address].filter(Boolean).join(" · ")}
    <span class="quiet">${h(Age, { at: health.received_at })}</span>`;
}

/** @param {{client: Client}} props */
function Facts({ client }) {
  const off = client.screen_health === "off" ? offByWords[client.screen_off_by ?? ""] : null;
  const screen = off ?? screenWords[client.screen_health] ?? client.screen_health;
  const hours = client.keeps_hours ? displayWords.keepsHours : displayWords.hoursUntold;
  return html`<dl class="facts">
    ${h(Fact, { name: displayWords.heartbeat, children: h(Age, { at: client.last_heartbeat_at }) })}
    ${h(Fact, { name: displayWords.screen, children: screen })}
    ${h(Fact, { name: displayWords.shows, children: h(Shows, { client }) })}
    ${typeof client.keeps_hours === "boolean" && h(Fact, { name: displayWords.hours, children: hours })}
    ${h(Fact, { name: displayWords.site, children: client.site ?? commonWords.none })}
    ${h(Fact, { name: displayWords.tags, children: listed(client.tags ?? []) || commonWords.none })}
    ${h(Fact, { name: displayWords.host, children: client.hostname ?? commonWords.notReported })}
    ${h(Fact, { name: displayWords.ip, children: client.ip ?? commonWords.notReported })}
    ${h(Fact, { name: displayWords.version, children: client.app_version ?? commonWords.notReported })}
  </dl>`;
}

/** @param {{client: Client}} props */
function Connection({ client }) {
  const count = client.mqtt_reconnect_count;
  const at = client.mqtt_last_disconnect_at;
  const lost = at ? html`${h(Time, { at })} <span class="quiet">${h(Age, { at })}</span>` : commonWords.notReported;
  return html`<section class="connection" aria-label=${displayWords.connection}>
    <h3>${displayWords.connection}</h3>
    ${client.unsteady_losses && html`<p class="cause">${displayWords.unsteady({ losses_n: client.unsteady_losses })}</p>`}
    <dl class="facts">
      ${h(Fact, {
        name: displayWords.reconnects,
        children: html`<span class="figure">${count ?? commonWords.notReported}
        </span>`,
      })}
      ${h(Fact, { name: displayWords.lastDisconnect, children: lost })}
      ${h(Fact, { name: displayWords.presence, children: client.presence })}
    </dl>
  </section>`;
}

/** The failure that stands, or the acknowledgement that is still being read. @param {{client: Client}} props */
function Failure({ client }) {
  const mark = marks.value.get(client.uuid);
  const { service_failed_at, service_failed_unit } = client;
  const standing =
    service_failed_at && service_failed_unit
      ? (failures.value.find(({ uuid }) => uuid === client.uuid) ?? {
          uuid: client.uuid,
          name: client.name,
          site: client.site,
          service_failed_at,
          service_failed_unit,
          service_mended_at: client.service_mended_at,
          mended_since: null,
          mended_by: null,
          taken_by: null,
          taken_at: null,
          note: null,
        })
      : null;
  const failure = standing ?? mark?.failure;
  if (!failure) return null;
  return html`<section class="panel-failure" aria-label=${attentionWords.failed({ unit: failure.service_failed_unit })}>
    <p>${h(Glyph, { shape: "warning" })}<strong>${attentionWords.failed({ unit: failure.service_failed_unit })}
      </strong> ${h(Age, { at: failure.service_failed_at })} ${h(IsMended, { failure })}</p>
    ${standing && h(OnIt, { failure: standing })}
    ${h(Acknowledge, { failure, mark })}
  </section>`;
}

const SHARED_SHOWN = 86_400_000;
const WENT_BACK_SHOWN = 7 * SHARED_SHOWN;

/** What is odd about the display itself, not about how it is. @param {{client: Client}} props */
function Oddities({ client }) {
  /** @param {string | null | undefined} at @param {number} shown */
  const lately = (at, shown) => (at && now.value - Date.parse(at) < shown ? at : null);
  const shared = lately(client.shared_login_seen_at, SHARED_SHOWN);
  const back = !shared && lately(client.counter_went_back_at, WENT_BACK_SHOWN);
  return html`
    ${shared && h(SharedLogin, { uuid: client.uuid, at: shared, key: `shared-${client.uuid}` })}
    ${back && html`<p class="quiet">${displayWords.counterWentBack({ time: exact(back) })}</p>`}`;
}

/** Whether anything but a heartbeat came of it. @param {Client} client */
const hasConnected = (client) => Boolean(client.presence_at || client.health || client.refused?.length);

/** @param {{client: Client}} props */
function Why({ client }) {
  if (!client.last_heartbeat_at && client.created_at) {
    return hasConnected(client) ? html`<p>${displayWords.noHeartbeat}</p>` : h(NeverConnected, { client });
  }
  if (!isUnwell(client)) return html`<p class="quiet">${statusMeanings[client.status] ?? ""}</p>`;
  const off = client.recovery?.state === "off";
  return html`<p>${h(Faults, { client })} ${h(IncidentLink, { client })}</p>
    ${off && html`<p class="quiet">${displayWords.recovery}: ${recoveryWhy(client, now.value)}</p>`}`;
}

/** A display that was created and never came: since when, and what can be done. @param {{client: Client}} props */
function NeverConnected({ client }) {
  /** @param {unknown} error */
  const fail = (error) => setFailed(wordsOf(error));
  const { made, make } = useNewCode(client.uuid, fail);
  const [failed, setFailed] = useState("");
  const until = made?.expires_at ?? client.code_until;
  const code = !until
    ? displayWords.codeNone
    : Date.parse(until) > now.value
      ? displayWords.codeUntil({ time: exact(until) })
      : displayWords.codeEnded({ time: exact(until) });
  const [sure, setSure] = useState(false);
  const remove = () => removeClient(client.uuid).then(() => [closeDisplay(), refresh()], fail);
  return html`<section class="never" aria-label=${displayWords.never}>
    <p>${displayWords.never} ${code}</p>
    ${made && h(MadeCode, { made })}
    ${
      mayAdminister.value
        ? html`<div class="buttons"><button class="plain" onClick=${make}>${displayWords.newCode}</button>
            <button class="plain" onClick=${sure ? remove : () => setSure(true)}>
              ${sure ? displayWords.removeSure : displayWords.remove}</button></div>
          ${made && html`<p class="quiet">${displayWords.newCodeHow}</p>`}`
        : html`<p class="quiet">${displayWords.askAdmin}</p>`
    }
    <p class="form-error" role="alert">${failed}</p>
  </section>`;
}

/** @typedef {keyof typeof displayWords.tabs} Tab */
/** @type {Tab[]} */
const TABS = ["about", "logs", "commands", "health", "events", "refused"];

/** The last one only for whoever may read it, and where there is something. @param {Client} client */
const tabsOf = (client) =>
  TABS.filter((key) => key !== "refused" || (mayOperate.value && (client.refused?.length || tab.value === key)));

/** @param {Tab[]} tabs @returns {Tab} */
const openTab = (tabs) => tabs.find((key) => key === tab.value) ?? (level.value || logText.value ? "logs" : "about");

/** @param {Tab} key */
const choose = (key) => go({ tab: key === "about" ? null : key }, { replace: true });

/** Arrow keys walk the tabs, as in every list of tabs. @param {KeyboardEvent} event @param {Tab[]} tabs */
function walk(event, tabs) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = tabs[(tabs.indexOf(openTab(tabs)) + step + tabs.length) % tabs.length];
  if (!next) return;
  choose(next);
  document.getElementById(`tab-${next}`)?.focus();
}

/** @param {{name: string, tabs: Tab[]}} props */
function Tabs({ name, tabs }) {
  const current = openTab(tabs);
  return html`<div class="tabs" role="tablist" aria-label=${displayWords.region({ name })}
    onKeyDown=${(/** @type {KeyboardEvent} */ event) => walk(event, tabs)}>
    ${tabs.map(
      (key) => html`<button role="tab" id=${`tab-${key}`} aria-selected=${current === key} aria-controls="tab-body"
        tabindex=${current === key ? 0 : -1} key=${key}
        class=${classes("tab", current === key && "on")} onClick=${() => choose(key)}>${displayWords.tabs[key]}
      </button>`,
    )}
  </div>`;
}

/** @param {{client: Client}} props */
function TabBody({ client }) {
  const { uuid, status } = client;
  const current = openTab(tabsOf(client));
  return html`<div id="tab-body" role="tabpanel" tabindex="0" aria-labelledby=${`tab-${current}`}>
    ${current === "about" && h(AboutIt, { client })}
    ${current === "logs" && h(ClientLogs, { client, key: uuid })}
    ${current === "commands" && h(ClientCommands, { uuid, key: uuid })}
    ${current === "health" && h(ClientHealth, { client, key: uuid })}
    ${current === "events" && h(ClientEvents, { uuid, status, key: uuid })}
    ${current === "refused" && h(ClientRefused, { uuid, key: uuid })}
  </div>`;
}

/** @param {{client: Client}} props */
function Body({ client }) {
  const name = nameOf(client);
  return html`<div class="panel-state">
      ${h(StatusBadge, { status: client.status })}
      <span class="quiet">${displayWords.since} ${h(Time, { at: client.status_since })}</span>
    </div>
    ${h(Why, { client })}${h(Failure, { client })}${h(Oddities, { client })}
    ${h(CommandBox, { client, name, key: client.uuid })}
    ${h(Tabs, { name, tabs: tabsOf(client) })}
    ${h(TabBody, { client })}`;
}

/** What the display is, and what is known and done about it. @param {{client: Client}} props */
function AboutIt({ client }) {
  const { uuid } = client;
  const name = nameOf(client);
  return html`<div class="about">
    ${h(ClientRecoveryBox, { client, key: `recovery-${uuid}` })}
    ${h(ClientScreenshots, { client, name, key: `screen-${uuid}` })}
    ${h(ClientQuietBox, { uuid, key: `quiet-${uuid}` })}
    ${h(ClientSchedules, { uuid, key: `schedules-${uuid}` })}
    ${h(Facts, { client })}
    <p class="uuid"><span class="quiet">${displayWords.uuid}</span> <code>${uuid}</code>
      ${h(CopyButton, { text: uuid, label: displayWords.copyUuid })}</p>
    ${client.notes && html`<p class="notes">${client.notes}</p>`}
    ${h(UptimeStrip, { uuid, status: client.status, key: `uptime-${uuid}` })}
    ${h(Connection, { client })}
    ${h(Refused, { client })}
  </div>`;
}

/**
 * The panel takes the focus when it opens or shows another display, and gives it back to where it was opened from.
 * @param {{current: HTMLElement | null}} panel @param {string} uuid
 */
function useFocus(panel, uuid) {
  const opener = useRef(/** @type {Element | null} */ (null));
  useEffect(() => {
    const at = document.activeElement;
    if (at !== document.body && !panel.current?.contains(at)) opener.current = at;
    panel.current?.focus({ preventScroll: true });
  }, [uuid]);
  useLayoutEffect(() => {
    const back = () => (opener.current?.isConnected ? opener.current : document.getElementById("main"));
    return () => /** @type {HTMLElement | null} */ (back())?.focus({ preventScroll: true });
  }, []);
}

/** @param {{client: Client}} props */
function Edit({ client }) {
  const [open, setOpen] = useState(false);
  return html`<button class="link" onClick=${() => setOpen(true)}>${editWords.button}</button>
    ${open && h(EditDisplay, { client, close: () => setOpen(false) })}`;
}

/** @param {{uuid: string}} props */
function Panel({ uuid }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const { client, gone } = useClient(uuid);
  useFocus(ref, uuid);
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => event.key === "Escape" && !document.querySelector("dialog[open]") && closeDisplay();
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const name = client ? nameOf(client) : uuid.slice(0, 8);
  return html`<aside class="panel" ref=${ref} tabindex="-1" aria-label=${displayWords.region({ name })}>
    <div class="panel-head">
      <h2>${name}</h2>
      ${client && !gone && mayOperate.value && h(Edit, { client })}
      <button class="icon" aria-label=${commonWords.close} onClick=${closeDisplay}>${h(Glyph, { shape: "close" })}
      </button>
    </div>
    ${
      client && !gone
        ? h(Body, { client })
        : gone
          ? html`<p class="note">${displayWords.gone}
          </p>`
          : h(Loading, { rows: 5 })
    }
  </aside>`;
}

export function ClientPanel() {
  return chosen.value ? h(Panel, { uuid: chosen.value }) : null;
}
