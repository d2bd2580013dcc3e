/** What every list of scheduled commands says of one, and the buttons that change and cancel it. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { cancelSchedule } from "../lib/api/schedules.js";
import { person, zoneName } from "../lib/format.js";
import { html } from "../lib/html.js";
import { mayOperate } from "../lib/session.js";
import { actionWords, commonWords } from "../lib/words/first.js";
import { wordsOf } from "../lib/problems.js";
import { scheduleWords } from "../lib/words/schedules.js";
import { weekdayWords } from "../lib/words/weekdays.js";
import { Time } from "./parts.js";
import { ChangeSchedule } from "./schedule_change.js";

/** @typedef {import("../lib/openapi").CommandSchedule} Schedule */

/** Whom it is for. @param {Schedule} one */
function whom({ filter, named }) {
  if (!filter) return scheduleWords.some({ n: named });
  const [first, ...more] = Object.entries(filter);
  if (first && !more.length && first[0] === "site") return scheduleWords.site({ site: String(first[1]) });
  if (first && !more.length && first[0] === "tag") return scheduleWords.tag({ tag: String(first[1]) });
  return scheduleWords.matching({
    filter: Object.entries(filter)
      .map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`)
      .join(", "),
  });
}

/** "Restart player: Site Basel". @param {Schedule} one */
export const titleOf = (one) =>
  `${actionWords[/** @type {import("../lib/types").Action} */ (one.action)] ?? one.action}: ${whom(one)}`;

/** How often, and by whom. @param {{one: Schedule}} props */
export function Facts({ one }) {
  const days = one.weekdays.map((day) => weekdayWords[day]).join(", ");
  return html`${days && `${scheduleWords.every({ days, time: one.local_time ?? "", zone: one.time_zone })} · `}${commonWords.by(
    { who: person(one.created_by) },
  )}`;
}

/** The state in words; the next time also in the reader's zone if it is another one. @param {{one: Schedule}} props */
export function State({ one }) {
  const elsewhere = one.next_at && !one.cancelled_at && one.time_zone !== zoneName;
  return html`${one.words}
    ${elsewhere && html` <span class="quiet">${scheduleWords.yours}: ${h(Time, { at: one.next_at })}.</span>`}`;
}

/** @param {{one: Schedule, done: (words: string) => void}} props done: is told what was done */
export function Buttons({ one, done }) {
  const [failed, setFailed] = useState("");
  const [changing, setChanging] = useState(false);
  const what = titleOf(one);
  if (!mayOperate.value || !one.next_at || one.cancelled_at) return null;
  const cancel = () =>
    cancelSchedule(one.id).then(
      () => done(scheduleWords.cancelled({ what })),
      (error) => setFailed(wordsOf(error)),
    );
  return html`<button class="plain" aria-label=${scheduleWords.changeOf({ what })} onClick=${() => setChanging(true)}>
      ${scheduleWords.change}</button>
    <button class="plain" aria-label=${scheduleWords.cancelOf({ what })} onClick=${cancel}>${scheduleWords.cancel}</button>
    ${changing && h(ChangeSchedule, { one, what, close: () => setChanging(false), changed: done })}
    ${failed && html`<span class="cause" role="alert">${failed}</span>`}`;
}
