/** Plan commands for later: for chosen displays, or for a site or a tag. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { planSchedule } from "../lib/api/schedules.js";
import { newUuid } from "../lib/commands.js";
import { clients } from "../lib/fleet.js";
import { siteNames } from "../lib/sites.js";
import { zoneName } from "../lib/format.js";
import { html } from "../lib/html.js";
import { localTime } from "../lib/quiet_form.js";
import { WAVES } from "../lib/schedule_changes.js";
import { mayAdminister } from "../lib/session.js";
import { go } from "../lib/url.js";
import { actionWords, commonWords } from "../lib/words/first.js";
import { scheduleWords } from "../lib/words/schedules.js";
import { weekdayWords } from "../lib/words/weekdays.js";
import { FormDialog } from "./form_dialog.js";
import { Dialog } from "./dialog.js";

/** @typedef {import("../lib/types").Action} Action */
/** @typedef {import("../lib/openapi").CommandSchedule} Schedule */

const TYPE_ABOVE = 10; // more displays than that, and their number has to be typed
/** @type {Action[]} */
const ACTIONS = ["restart_app", "reboot_host", "shutdown_host", "screen_on", "screen_off"];
const WEEKDAYS = Object.keys(weekdayWords);

/** The sites and tags of the fleet, as "site:Basel" and "tag:outdoor". */
function places() {
  const all = [...clients.values()];
  const tags = all.flatMap((one) => one.tags);
  /** @param {string[]} names @param {string} kind */
  const options = (names, kind) => [...new Set(names)].sort().map((name) => `${kind}:${name}`);
  return [...options(siteNames(), "site"), ...options(tags, "tag")];
}

/** @param {string} place */
function worded(place) {
  const name = place.slice(place.indexOf(":") + 1);
  return place.startsWith("site:") ? scheduleWords.site({ site: name }) : scheduleWords.tag({ tag: name });
}

/** What the form asks for, as the API wants it. @param {FormData} form @param {string[] | null} uuids */
function wanted(form, uuids) {
  const place = String(form.get("place") ?? "");
  const kind = place.slice(0, place.indexOf(":"));
  const weekly = form.get("kind") === "weekly";
  return {
    action: form.get("action"),
    reason: String(form.get("reason")).trim(),
    ...(uuids ? { clients: uuids } : { filter: { [kind]: place.slice(kind.length + 1) } }),
    ...(form.get("waves") && { waves: WAVES }),
    ...(weekly ? weeklyIn(form) : { at: momentIn(form), time_zone: zoneName }),
  };
}

/** @param {FormData} form */
const momentIn = (form) => new Date(String(form.get("at"))).toISOString();

/** @param {FormData} form */
const weeklyIn = (form) => ({
  weekdays: /** @type {Schedule["weekdays"]} */ (WEEKDAYS.filter((day) => form.get(day))),
  local_time: String(form.get("local_time")),
  time_zone: String(form.get("time_zone")).trim(),
  until: String(form.get("until")) || null,
});

/** The times of a schedule that is changed: once stays once. @param {FormData} form @param {Schedule} one */
export const timesIn = (form, one) => (one.at ? { at: momentIn(form) } : weeklyIn(form));

/** Once, at a time of the reader's zone. @param {{one?: Schedule | null}} props */
export function Once({ one }) {
  const at = localTime(one?.at ?? null);
  const step = at.length > "2026-12-01T03:00".length ? 1 : 60; // a time with seconds keeps them
  return html`<label>${scheduleWords.at({ zone: zoneName })}<input name="at" type="datetime-local" step=${step} required
      defaultValue=${at} /></label>`;
}

/** Every week, by the clock of a zone; at least one day. @param {{one?: Schedule | null}} props */
export function Weekly({ one }) {
  const [days, setDays] = useState(one?.weekdays.length ?? 0);
  /** @param {Event} event */
  const choose = (event) => {
    const box = /** @type {HTMLInputElement} */ (event.currentTarget);
    setDays(days + (box.checked ? 1 : -1));
  };
  return html`<fieldset><legend>${scheduleWords.on}</legend>
      <div class="chips">${WEEKDAYS.map(
        (day) => html`<label class="check" key=${day}>
          <input type="checkbox" name=${day} required=${days === 0} onChange=${choose}
            defaultChecked=${one?.weekdays.some((chosen) => chosen === day)} />${weekdayWords[day]}</label>`,
      )}</div></fieldset>
    <div class="settings-form"><label>${scheduleWords.time}<input name="local_time" type="time" required
        defaultValue=${one?.local_time ?? ""} /></label>
      <label>${scheduleWords.zone}<input name="time_zone" required maxlength="100" list="zones"
        defaultValue=${one?.time_zone ?? zoneName} autocomplete="off" /></label></div>
    <datalist id="zones">${Intl.supportedValuesOf("timeZone").map((zone) => html`<option key=${zone} value=${zone} />`)}
    </datalist>
    <label>${scheduleWords.until}<input name="until" type="date" defaultValue=${one?.until ?? ""} /></label>`;
}

/**
 * @param {{uuids?: string[] | null, close: () => void, changed?: () => void}} props
 *   uuids: the displays; without them the form asks for a site or tag
 */
export function ScheduleDialog({ uuids = null, close, changed }) {
  const [asked] = useState(uuids); // what is chosen meanwhile does not change the question
  const [kind, setKind] = useState("once");
  const [words, setWords] = useState("");
  const [key] = useState(newUuid); // sent again, nothing is planned twice
  const number = asked?.length ?? 0;
  const title = asked ? scheduleWords.planFor({ n: number }) : scheduleWords.plan;
  /** @param {FormData} form */
  const act = (form) => planSchedule(wanted(form, asked), key);
  /** @param {import("../lib/openapi").ScheduleDetails} made */
  const done = (made) => {
    changed?.();
    setWords(made.words);
  };
  const all = () => {
    close();
    go({ v: "batches", b: null, d: null });
  };
  if (words)
    return h(Dialog, {
      title,
      onClose: close,
      children: html`<p role="status">${scheduleWords.planned({ words })}</p>
        <div class="dialog-foot"><button class="plain" onClick=${all}>${scheduleWords.all}</button>
          <button class="primary" onClick=${close}>${commonWords.close}</button></div>`,
    });
  /** @param {Event} event */
  const choose = (event) => setKind(/** @type {HTMLSelectElement} */ (event.currentTarget).value);
  const actions = ACTIONS.filter((action) => action !== "shutdown_host" || mayAdminister.value);
  const children = html`<label>${scheduleWords.action}<select name="action">
        ${actions.map((action) => html`<option key=${action} value=${action}>${actionWords[action]}</option>`)}
      </select></label>
    ${
      !asked &&
      html`<label>${scheduleWords.whom}<select name="place" required><option value=""></option>
        ${places().map((place) => html`<option key=${place} value=${place}>${worded(place)}</option>`)}</select></label>`
    }
    <label>${scheduleWords.when}<select name="kind" value=${kind} onChange=${choose}>
      <option value="once">${scheduleWords.once}</option><option value="weekly">${scheduleWords.weekly}</option>
    </select></label>
    ${kind === "weekly" ? h(Weekly, { one: null }) : h(Once, { one: null })}
    <label>${scheduleWords.reason}<input name="reason" maxlength="500" autocomplete="off" /></label>
    <label class="check"><input type="checkbox" name="waves" defaultChecked=${!asked || number > TYPE_ABOVE} />
      ${scheduleWords.waves}</label>
    ${
      number > TYPE_ABOVE &&
      html`<label>${scheduleWords.type({ n: number })}<input name="typed" required pattern=${String(number)}
        inputmode="numeric" autocomplete="off" /></label>`
    }`;
  return h(FormDialog, { title, go: scheduleWords.go, act, done, close, children });
}
