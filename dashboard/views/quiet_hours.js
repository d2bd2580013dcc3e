/** The hours of a week: for each day its times, several where needed. */
import { h } from "../vendor/preact.js";
import { html } from "../lib/html.js";
import { DAYS, timesAfter, WORKDAYS } from "../lib/quiet_hours.js";
import { quietFormWords } from "../lib/words/quiet_times.js";
import { dayNames } from "../lib/words/weekdays.js";

/** @typedef {import("../lib/quiet_hours.js").Week} Week */
/** @typedef {import("../lib/quiet_hours.js").Interval} Interval */

/** @param {{day: string, n: number, one: Interval, change: (one: Interval | null) => void}} props n: from 1 */
function Times({ day, n, one, change }) {
  const name = dayNames[day] ?? day;
  /** @param {"from" | "to"} part */
  const type = (part) => (/** @type {InputEvent} */ event) =>
    change({ ...one, [part]: /** @type {HTMLInputElement} */ (event.currentTarget).value });
  /** @param {"from" | "to"} part @param {string} label */
  const field = (part, label) =>
    html`<input type="time" required step=${one[part].length > 5 ? 1 : 60} aria-label=${label} value=${one[part]}
      onInput=${type(part)} />`;
  return html`<span class="times">${field("from", quietFormWords.begins({ day: name, n }))}<span aria-hidden="true">–</span>
    ${field("to", quietFormWords.ends({ day: name, n }))}
    ${one.nights !== null && html`<span class="quiet">${quietFormWords.nights({ n: one.nights })}</span>`}
    <button type="button" class="icon" aria-label=${quietFormWords.removeTimes({ day: name, n })} onClick=${() => change(null)}>
      ✕</button></span>`;
}

/** @param {{day: string, times: Interval[], empty: string, set: (times: Interval[]) => void}} props */
function Day({ day, times, empty, set }) {
  const name = dayNames[day] ?? day;
  /** @param {number} i */
  const change = (i) => (/** @type {Interval | null} */ one) =>
    set(one ? times.with(i, one) : times.filter((_, at) => at !== i));
  return html`<li class="week-day"><span class="week-name">${name}</span>
    <span class="week-times">
      ${times.map((one, i) => h(Times, { key: i, day, n: i + 1, one, change: change(i) }))}
      ${times.length === 0 && html`<span class="quiet">${empty}</span>`}</span>
    <button type="button" class="link" aria-label=${quietFormWords.addTimesTo({ day: name })}
      onClick=${() => set([...times, timesAfter(times)])}>${quietFormWords.addTimes}</button></li>`;
}

/** @param {{week: Week, isOpening: boolean, set: (week: Week) => void}} props isOpening: it is quiet outside of them */
export function WeekEditor({ week, isOpening, set }) {
  const empty = isOpening ? quietFormWords.closedAllDay : quietFormWords.notThatDay;
  const copy = () => set({ ...week, ...Object.fromEntries(WORKDAYS.map((day) => [day, week["monday"] ?? []])) });
  return html`<ul class="week">${DAYS.map((day) =>
    h(Day, { key: day, day, times: week[day] ?? [], empty, set: (times) => set({ ...week, [day]: times }) }),
  )}</ul>
    <button type="button" class="link" disabled=${!week["monday"]?.length} onClick=${copy}>${quietFormWords.copy}
    </button>`;
}
