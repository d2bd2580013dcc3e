/** What will happen to one display, and the way to plan, change or cancel it. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { schedulesOf } from "../lib/api/schedules.js";
import { html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { mayOperate } from "../lib/session.js";
import { scheduleWords } from "../lib/words/schedules.js";
import { ScheduleDialog } from "./schedule_form.js";
import { Buttons, Facts, State, titleOf } from "./schedule_parts.js";

/** @typedef {import("../lib/openapi").CommandSchedule} Schedule */

const PERIOD = 30_000;

/** @param {{uuid: string}} props */
export function ClientSchedules({ uuid }) {
  const [found, setFound] = useState(/** @type {Schedule[]} */ ([]));
  const [planning, setPlanning] = useState(false);
  const [asked, setAsked] = useState(0); // something was just changed here
  const [said, setSaid] = useState("");
  useEffect(
    () =>
      poll(
        async (abort) => setFound((await schedulesOf(uuid, abort)).items),
        () => PERIOD,
      ).stop,
    [uuid, asked],
  );
  const changed = () => setAsked(asked + 1);
  /** @param {string} words */
  const done = (words) => {
    setSaid(words);
    changed();
  };
  return html`<section class="recovery-box" aria-label=${scheduleWords.title}>
    ${found.map(
      (one) => html`<p key=${one.id}><strong>${titleOf(one)}</strong> ${h(State, { one })}
        <span class="quiet"> ${h(Facts, { one })}</span> ${h(Buttons, { one, done })}</p>`,
    )}
    ${mayOperate.value && html`<button class="link" onClick=${() => setPlanning(true)}>${scheduleWords.plan}</button>`}
    <p class="done" role="status">${said}</p>
    ${planning && h(ScheduleDialog, { uuids: [uuid], close: () => setPlanning(false), changed })}
  </section>`;
}
