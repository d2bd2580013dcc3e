/** The dialogs about notifications: a channel, what it was told, a snooze. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import * as api from "../lib/api/notifications.js";
import { serverNow } from "../lib/clock.js";
import { clients, version } from "../lib/fleet.js";
import { zoneName } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { S } from "../lib/strings.js";
import { L } from "../lib/strings_later.js";
import { N } from "../lib/strings_notifications.js";
import { FormDialog } from "./form_dialog.js";
import { ListState } from "./list_state.js";
import { Dialog, Time } from "./parts.js";

/** @typedef {import("../lib/openapi").NotificationChannel} Channel */
/** @typedef {{close: () => void, done: () => void}} Ends */

/** @param {FormDataEntryValue | null} value */
const text = (value) => String(value ?? "").trim();

/** The hours that the form says; null: at all times. @param {FormData} form @param {string} zone */
function hoursOf(form, zone) {
  if (!form.get("hours")) return null;
  return {
    time_zone: zone,
    weekdays: Object.keys(N.days).filter((day) => form.get(day)),
    begin: text(form.get("begin")),
    end: text(form.get("end")),
  };
}

/** What the form says, as the API wants it. @param {FormData} form @param {string} zone */
function wanted(form, zone) {
  const url = text(form.get("url"));
  const secret = text(form.get("signing_secret"));
  const sites = text(form.get("sites"))
    .split(",")
    .map((site) => site.trim())
    .filter(Boolean);
  return {
    name: text(form.get("name")),
    ...(url && { url }),
    ...(secret && { signing_secret: secret }),
    events: Object.keys(N.event).filter((name) => form.get(name)),
    delay_seconds: Math.round(Number(form.get("delay")) * 60),
    sites: sites.length ? sites : null,
    hours: hoursOf(form, zone),
    critical_passes: form.get("critical_passes") !== null,
  };
}

const USUAL = Object.keys(N.event).filter((name) => name !== "conversion_failed");
const WORKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"];

/** @param {{name: string, label: string, on: boolean}} props */
function Check({ name, label, on }) {
  return html`<label class="check"><input type="checkbox" name=${name} defaultChecked=${on} />${label}</label>`;
}

/** @param {{channel: Channel | null, zone: string}} props */
function Hours({ channel, zone }) {
  const hours = channel?.hours ?? null;
  const [limited, setLimited] = useState(hours !== null);
  return html`<fieldset><legend>${N.when}</legend>
    <label class="check"><input type="checkbox" name="hours" checked=${limited} onChange=${() => setLimited(!limited)} />${N.hours}</label>
    ${
      limited &&
      html`<div class="chips">${Object.entries(N.days).map(([day, word]) => h(Check, { key: day, name: day, label: word, on: (hours?.weekdays ?? WORKDAYS).some((one) => one === day) }))}</div>
      <div class="settings-form"><label>${N.from}<input name="begin" type="time" required defaultValue=${hours?.begin ?? "08:00"} /></label>
        <label>${N.to}<input name="end" type="time" required defaultValue=${hours?.end ?? "18:00"} /></label></div>
      <p class="quiet">${N.hoursHow(zone)}</p>`
    }
    ${h(Check, { name: "critical_passes", label: N.critical, on: channel?.critical_passes ?? true })}
  </fieldset>`;
}

/** Add a channel, or change this one. @param {Ends & {channel: Channel | null}} props */
export function ChannelDialog({ channel, close, done }) {
  const [kind, setKind] = useState(channel?.kind ?? "webhook");
  const zone = channel?.hours?.time_zone ?? zoneName;
  /** @param {FormData} form */
  const act = (form) =>
    channel ? api.changeChannel(channel.id, wanted(form, zone)) : api.addChannel({ ...wanted(form, zone), kind });
  const events = /** @type {string[]} */ (channel?.events ?? USUAL);
  const children = html`
    <label>${N.name}<input name="name" required maxlength="100" autocomplete="off" defaultValue=${channel?.name ?? ""} autofocus /></label>
    ${!channel && html`<label>${N.kind}<select value=${kind} onChange=${(/** @type {any} */ event) => setKind(event.currentTarget.value)}>${Object.entries(N.kinds).map(([one, word]) => html`<option key=${one} value=${one}>${word}</option>`)}</select></label>`}
    <label>${N.url}<input name="url" type="password" required=${!channel} minlength="8" maxlength="2000" autocomplete="off" spellcheck=${false} aria-describedby="url-how" /></label>
    <p class="quiet" id="url-how">${channel ? N.keepsTo(channel.address) : N.urlHow[kind]}</p>
    ${kind === "webhook" && html`<label>${N.secret}<input name="signing_secret" type="password" minlength="16" maxlength="200" autocomplete="new-password" /></label>${channel?.signed && html`<p class="quiet">${N.keep}</p>`}`}
    <fieldset><legend>${N.events}</legend>${Object.entries(N.event).map(([name, label]) => h(Check, { key: name, name, label, on: events.includes(name) }))}</fieldset>
    <label>${N.delay}<input name="delay" type="number" min="0" max="1440" step="any" required defaultValue=${String((channel?.delay_seconds ?? 120) / 60)} /></label>
    <label>${N.sites}<input name="sites" autocomplete="off" list="notified-sites" defaultValue=${channel?.sites?.join(", ") ?? ""} /></label>
    <datalist id="notified-sites">${sites().map((site) => html`<option key=${site} value=${site}></option>`)}</datalist>
    ${h(Hours, { channel, zone })}`;
  return h(FormDialog, {
    title: channel ? N.editTitle(channel.name) : N.addTitle,
    go: channel ? N.editGo : N.addGo,
    act,
    done,
    close,
    children,
  });
}

/** @param {Ends & {channel: Channel}} props */
export function RemoveChannel({ channel, close, done }) {
  const act = () => api.removeChannel(channel.id);
  return h(FormDialog, {
    title: N.removeTitle(channel.name),
    go: N.removeGo,
    look: "danger",
    act,
    done,
    close,
    children: html`<p class="quiet">${N.removeText}</p>`,
  });
}

/** @param {{channel: Channel, close: () => void}} props */
export function History({ channel, close }) {
  const list = usePages(`deliveries-${channel.id}`, (cursor, abort) => api.listDeliveries(channel.id, cursor, abort));
  const body = html`
    ${h(ListState, { list, failed: N.historyFailed, rows: 3 })}
    ${
      list.items &&
      html`<ul>${list.items.map(
        (one) => html`<li class="token" key=${one.id}>
      <span class="token-body"><strong>${one.title}</strong><span class="quiet">${h(Time, { at: one.created_at })} · ${N.tries(one.attempts)}</span>
        ${one.error && html`<span class=${one.state === "dropped" ? "quiet" : "cause"}>${one.error}</span>`}</span>
      <span class=${classes("tag", one.state === "pending" && "tag-amber")}>${N.state[one.state] ?? one.state}</span></li>`,
      )}</ul>`
    }
    ${list.items?.length === 0 && html`<p class="quiet">${N.historyNone}</p>`}
    ${list.more && html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${L.logs.more}</button>`}
    <div class="dialog-foot"><button class="primary" onClick=${close} autofocus>${S.close}</button></div>`;
  return h(Dialog, { title: N.historyTitle(channel.name), onClose: close, children: body });
}

/** Names of the sites that displays stand at. */
function sites() {
  void version.value;
  return [...new Set([...clients.values()].map((one) => one.site).filter((site) => site != null))].sort();
}

/** With a display it is about that one alone; else the form asks about whom. @param {Ends & {display?: {uuid: string, name: string}}} props */
export function SnoozeDialog({ close, done, display }) {
  /** @param {FormData} form */
  const act = (form) => {
    const site = text(form.get("site"));
    const until = new Date(serverNow() + Number(form.get("hours")) * 3_600_000).toISOString();
    const whom = display
      ? { scope: "client", client: display.uuid }
      : site
        ? { scope: "site", site }
        : { scope: "fleet" };
    return api.snooze({ ...whom, until, reason: text(form.get("reason")) });
  };
  const asks = html`<label>${N.snoozes.whom}<select name="site" autofocus><option value="">${N.snoozes.fleet}</option>${sites().map((site) => html`<option key=${site} value=${site}>${site}</option>`)}</select></label>`;
  const children = html`
    ${display ? html`<p><strong>${display.name}</strong></p>` : asks}
    <label>${N.snoozes.forHow}<select name="hours">${N.snoozes.spans.map(([hours, word]) => html`<option key=${hours} value=${hours}>${word}</option>`)}</select></label>
    <label>${N.snoozes.reason}<input name="reason" maxlength="500" autocomplete="off" /></label>`;
  return h(FormDialog, { title: N.snoozes.addTitle, go: N.snoozes.go, act, done, close, children });
}
