/** Change when a schedule sends its commands, and its reason. */
import { h } from "../vendor/preact.js";
import { changeSchedule } from "../lib/api/schedules.js";
import { html } from "../lib/html.js";
import { changesOf, wavesIn } from "../lib/schedule_changes.js";
import { scheduleWords } from "../lib/words/schedules.js";
import { FormDialog } from "./form_dialog.js";
import { Once, Weekly, timesIn } from "./schedule_form.js";

/** @typedef {import("../lib/openapi").CommandSchedule} Schedule */

/** @param {{one: Schedule, what: string, close: () => void, changed: (words: string) => void}} props */
export function ChangeSchedule({ one, what, close, changed }) {
  /** @param {FormData} form */
  const act = (form) =>
    changeSchedule(
      one.id,
      changesOf(one, {
        ...timesIn(form, one),
        reason: String(form.get("reason")).trim(),
        waves: wavesIn(form.get("waves") !== null, one.waves),
      }),
    );
  /** @param {Schedule} after */
  const done = (after) => {
    changed(scheduleWords.changed({ words: after.words }));
    close();
  };
  const children = html`<p class="quiet">${scheduleWords.stays}</p>
    ${one.at ? h(Once, { one }) : h(Weekly, { one })}
    <label>${scheduleWords.reason}<input name="reason" maxlength="500" autocomplete="off"
        defaultValue=${one.reason} /></label>
    <label class="check"><input type="checkbox" name="waves" defaultChecked=${one.waves.length > 1} />
      ${scheduleWords.waves}</label>`;
  return h(FormDialog, {
    title: scheduleWords.changeOf({ what }),
    go: scheduleWords.save,
    act,
    done,
    close,
    children,
  });
}
