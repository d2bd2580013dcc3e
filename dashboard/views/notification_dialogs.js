/** The dialogs about notifications: a channel, and what it was told. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import * as api from "../lib/api/notifications.js";
import { version } from "../lib/fleet.js";
import { LANGUAGES, language } from "../lib/language.js";
import { siteNames } from "../lib/sites.js";
import { zoneName } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { commonWords } from "../lib/words/first.js";
import { notificationWords } from "../lib/words/notifications.js";
import { weekdayWords } from "../lib/words/weekdays.js";
import { ChannelAddress, addressIn } from "./channel_address.js";
import { FormDialog } from "./form_dialog.js";
import { ListState } from "./list_state.js";
import { Dialog } from "./dialog.js";
import { Time } from "./parts.js";

/** @typedef {import("../lib/openapi").NotificationChannel} Channel */
/** @typedef {{close: () => void, done: () => void}} Ends */

/** Names of the sites that displays stand at. */
function sites() {
  void version.value;
  return siteNames();
}

/** @param {FormDataEntryValue | null} value */
const text = (value) => String(value ?? "").trim();

/** The hours that the form says; null: at all times. @param {FormData} form @param {string} zone */
function hoursOf(form, zone) {
  if (!form.get("hours")) return null;
  return {
    time_zone: zone,
    weekdays: Object.keys(weekdayWords).filter((day) => form.get(day)),
    begin: text(form.get("begin")),
    end: text(form.get("end")),
  };
}

/** What the form says, as the API wants it. @param {FormData} form @param {string} zone */
function wanted(form, zone) {
  const { url } = addressIn(form);
  const secret = text(form.get("signing_secret"));
  const sites = text(form.get("sites"))
    .split(",")
    .map((site) => site.trim())
    .filter(Boolean);
  return {
    name: text(form.get("name")),
    ...(url && { url }),
    ...(secret && { signing_secret: secret }),
    events: Object.keys(notificationWords.event).filter((name) => form.get(name)),
    language: text(form.get("language")),
    delay_seconds: Math.round(Number(form.get("delay")) * 60),
    sites: sites.length ? sites : null,
    hours: hoursOf(form, zone),
    critical_passes: form.get("critical_passes") !== null,
  };
}

const CHOSEN = ["conversion_failed", "daily_report", "weekly_report"]; // never without being asked for
const USUAL = Object.keys(notificationWords.event).filter((name) => !CHOSEN.includes(name));
const WORKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"];

/** @param {{name: string, label: string, on: boolean}} props */
function Check({ name, label, on }) {
  return html`<label class="check"><input type="checkbox" name=${name} defaultChecked=${on} />${label}</label>`;
}

/** @param {{channel: Channel | null, zone: string}} props */
function Hours({ channel, zone }) {
  const hours = channel?.hours ?? null;
  const [limited, setLimited] = useState(hours !== null);
  /** @type {readonly string[]} */
  const days = hours?.weekdays ?? WORKDAYS;
  return html`<fieldset><legend>${notificationWords.when}</legend>
    <label class="check"><input type="checkbox" name="hours" checked=${limited}
        onChange=${() => setLimited(!limited)} />${notificationWords.hours}</label>
    ${
      limited &&
      html`<div class="chips">
          ${Object.entries(weekdayWords).map(([day, label]) =>
            h(Check, { key: day, name: day, label, on: days.includes(day) }),
          )}
        </div>
        <div class="settings-form"><label>${notificationWords.from}
            <input name="begin" type="time" required defaultValue=${hours?.begin ?? "08:00"} /></label>
          <label>${notificationWords.to}<input name="end" type="time" required defaultValue=${hours?.end ?? "18:00"} />
          </label></div>
        <p class="quiet">${notificationWords.hoursHow({ zone })}</p>`
    }
    ${h(Check, { name: "critical_passes", label: notificationWords.critical, on: channel?.critical_passes ?? true })}
  </fieldset>`;
}

/** Add a channel, or change this one. @param {Ends & {channel: Channel | null}} props */
export function ChannelDialog({ channel, close, done }) {
  const zone = channel?.hours?.time_zone ?? zoneName;
  /** @param {FormData} form */
  const act = (form) =>
    channel
      ? api.changeChannel(channel.id, wanted(form, zone))
      : api.addChannel({ ...wanted(form, zone), kind: addressIn(form).kind });
  const events = /** @type {string[]} */ (channel?.events ?? USUAL);
  const children = html`
    <label>${notificationWords.name}<input name="name" required maxlength="100" autocomplete="off"
        defaultValue=${channel?.name ?? ""} autofocus /></label>
    ${h(ChannelAddress, { channel })}
    <fieldset><legend>${notificationWords.events}</legend>
      ${Object.entries(notificationWords.event).map(([name, label]) =>
        h(Check, { key: name, name, label, on: events.includes(name) }),
      )}</fieldset>
    <label>${notificationWords.language}<select name="language">
        ${Object.entries(LANGUAGES).map(
          ([tag, own]) =>
            html`<option key=${tag} value=${tag} lang=${tag} selected=${tag === (channel?.language ?? language)}>
              ${own}</option>`,
        )}</select></label>
    <label>${notificationWords.delay}<input name="delay" type="number" min="0" max="1440" step="any" required
        defaultValue=${String((channel?.delay_seconds ?? 120) / 60)} /></label>
    <label>${notificationWords.sites}<input name="sites" autocomplete="off" list="notified-sites"
        defaultValue=${channel?.sites?.join(", ") ?? ""} /></label>
    <datalist id="notified-sites">${sites().map((site) => html`<option key=${site} value=${site}></option>`)}</datalist>
    ${h(Hours, { channel, zone })}`;
  return h(FormDialog, {
    title: channel ? notificationWords.editTitle({ name: channel.name }) : notificationWords.addTitle,
    go: channel ? notificationWords.editGo : notificationWords.addGo,
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
    title: notificationWords.removeTitle({ name: channel.name }),
    go: notificationWords.removeGo,
    look: "danger",
    act,
    done,
    close,
    children: html`<p class="quiet">${notificationWords.removeText}</p>`,
  });
}

/** @param {{channel: Channel, close: () => void}} props */
export function History({ channel, close }) {
  const list = usePages(`deliveries-${channel.id}`, (cursor, abort) => api.listDeliveries(channel.id, cursor, abort));
  const body = html`
    ${h(ListState, { list, failed: notificationWords.historyFailed, rows: 3 })}
    ${
      list.items &&
      html`<ul>${list.items.map(
        (one) => html`<li class="token" key=${one.id}>
          <span class="token-body"><strong>${one.title}</strong>
            <span class="quiet">${h(Time, { at: one.created_at })} · ${notificationWords.tries({ n: one.attempts })}</span>
            ${one.error && html`<span class=${one.state === "dropped" ? "quiet" : "cause"}>${one.error}</span>`}</span>
          <span class=${classes("tag", one.state === "pending" && "tag-amber")}>
            ${notificationWords.state[one.state] ?? one.state}</span></li>`,
      )}</ul>`
    }
    ${list.items?.length === 0 && html`<p class="quiet">${notificationWords.historyNone}</p>`}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }
    <div class="dialog-foot"><button class="primary" onClick=${close} autofocus>${commonWords.close}</button></div>`;
  return h(Dialog, { title: notificationWords.historyTitle({ name: channel.name }), onClose: close, children: body });
}
