/** Maintenance windows: times in which nothing is sent to displays by itself. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import * as api from "../lib/api/maintenance.js";
import { clients, version } from "../lib/fleet.js";
import { person, zoneName } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { mayOperate } from "../lib/session.js";
import { commonWords } from "../lib/words/common.js";
import { maintenanceWords } from "../lib/words/maintenance.js";
import { wordsOf } from "../lib/words/problems.js";
import { weekdayWords } from "../lib/words/weekdays.js";
import { FormDialog } from "./form_dialog.js";
import { ListState } from "./list_state.js";
import { Time } from "./parts.js";

/** @typedef {import("../lib/types").MaintenanceWindow} Window */

const WEEKDAYS = /** @type {const} */ (["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]);

/** Names of the sites that displays stand at. */
function sites() {
  void version.value;
  return [...new Set([...clients.values()].map((one) => one.site).filter((site) => site != null))].sort();
}

/** A local date and time of a form as RFC 3339. @param {FormDataEntryValue | null} value */
const moment = (value) => (value ? new Date(String(value)).toISOString() : null);

/** What the form asks for, as the API wants it. @param {FormData} form */
function wanted(form) {
  const site = String(form.get("site"));
  const weekdays = WEEKDAYS.filter((day) => form.get(day));
  return {
    name: String(form.get("name")).trim(),
    reason: String(form.get("reason")).trim(),
    scope: site ? "site" : "fleet",
    ...(site && { site }),
    starts_at: moment(form.get("starts_at")),
    ends_at: moment(form.get("ends_at")),
    recurrence: weekdays.length ? { time_zone: zoneName, weekdays } : null,
  };
}

/** @param {{close: () => void, changed: () => void}} props */
function Plan({ close, changed }) {
  const act = (/** @type {FormData} */ form) => api.planMaintenance(wanted(form));
  const done = () => (changed(), close());
  const children = html`<label>${maintenanceWords.name}
      <input name="name" required maxlength="200" autocomplete="off" autofocus /></label>
    <label>${maintenanceWords.scope}<select name="site"><option value="">${maintenanceWords.fleet}</option>
        ${sites().map((site) => html`<option key=${site} value=${site}>${site}</option>`)}</select></label>
    <div class="settings-form"><label>${maintenanceWords.starts}<input name="starts_at" type="datetime-local" /></label>
      <label>${maintenanceWords.ends}<input name="ends_at" type="datetime-local" required /></label></div>
    <fieldset><legend>${maintenanceWords.weekly(zoneName)}</legend>
      <div class="chips">${WEEKDAYS.map(
        (day) => html`<label class="check" key=${day}>
          <input type="checkbox" name=${day} />${weekdayWords[day]}</label>`,
      )}</div></fieldset>
    <label>${maintenanceWords.reason}<input name="reason" maxlength="1000" autocomplete="off" /></label>`;
  return h(FormDialog, { title: maintenanceWords.plan, go: maintenanceWords.go, act, done, close, children });
}

/** @param {{window: Window, changed: () => void}} props */
function Row({ window, changed }) {
  const [failed, setFailed] = useState("");
  const { state, occurrence } = window;
  const { starts_at, ends_at } = occurrence ?? window;
  const live = state === "active" || state === "planned";
  const whom =
    window.scope === "site"
      ? window.site
      : window.scope === "clients"
        ? maintenanceWords.some(window.clients.length)
        : maintenanceWords.fleet;
  const weekly =
    window.recurrence && maintenanceWords.every(window.recurrence.weekdays.map((day) => weekdayWords[day]).join(", "));
  const end = () => api.endMaintenance(window.id).then(changed, (error) => setFailed(wordsOf(error)));
  return html`<li class=${classes("token", !live && "over")}>
    <span class="token-body"><strong>${window.name}</strong>
      <span class="quiet">
        ${whom} · ${h(Time, { at: starts_at })} – ${h(Time, { at: ends_at })}${weekly && ` · ${weekly}`}
        ${` · ${commonWords.by(person(window.created_by))}`}</span>
      ${window.reason && html`<span class="quiet">${window.reason}</span>`}</span>
    <span class=${classes("tag", state === "active" && "tag-amber")}>${maintenanceWords.state[state] ?? state}</span>
    ${
      live &&
      mayOperate.value &&
      html`<button class="plain" aria-label=${maintenanceWords.endOf(window.name)}
        onClick=${end}>${maintenanceWords.end}</button>`
    }
    ${failed && html`<span class="cause" role="alert">${failed}</span>`}
  </li>`;
}

export function Maintenance() {
  const list = usePages("maintenance", (cursor, abort) => api.listMaintenance(cursor, abort));
  const [planning, setPlanning] = useState(false);
  return html`<section class="card settings-card" aria-labelledby="maintenance-title">
    <div class="log-head"><h2 id="maintenance-title">${maintenanceWords.title}</h2>
      ${
        mayOperate.value &&
        html`<button class="plain" onClick=${() => setPlanning(true)}>${maintenanceWords.plan}
        </button>`
      }</div>
    <p class="quiet">${maintenanceWords.lead}</p>
    ${h(ListState, { list, failed: maintenanceWords.failed })}
    ${
      list.items &&
      html`<ul>${list.items.map((window) => h(Row, { key: window.id, window, changed: list.reload }))}
      </ul>`
    }
    ${list.items?.length === 0 && html`<p class="quiet">${maintenanceWords.none}</p>`}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }
    ${planning && h(Plan, { close: () => setPlanning(false), changed: list.reload })}
  </section>`;
}
