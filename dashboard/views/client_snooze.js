/** Whether one display is snoozed, and the way to snooze it. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { endSnooze, snoozesOf } from "../lib/api/notifications.js";
import { person } from "../lib/format.js";
import { html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { mayOperate } from "../lib/session.js";
import { commonWords } from "../lib/words/common.js";
import { wordsOf } from "../lib/words/problems.js";
import { snoozeWords } from "../lib/words/snoozes.js";
import { SnoozeDialog } from "./notification_dialogs.js";
import { Time } from "./parts.js";

/** @typedef {import("../lib/openapi").Snooze} Snooze */

const PERIOD = 30_000;

/** @param {{uuid: string, name: string}} props */
export function ClientSnooze({ uuid, name }) {
  const [found, setFound] = useState(/** @type {Snooze[]} */ ([]));
  const [adding, setAdding] = useState(false);
  const [failed, setFailed] = useState("");
  const [asked, setAsked] = useState(0); // something was just changed here
  useEffect(
    () =>
      poll(
        async (abort) => setFound((await snoozesOf(uuid, abort)).items),
        () => PERIOD,
      ).stop,
    [uuid, asked],
  );
  const close = () => setAdding(false);
  const changed = () => {
    close();
    setFailed("");
    setAsked(asked + 1);
  };
  /** @param {number} id */
  const end = (id) => endSnooze(id).then(changed, (error) => setFailed(wordsOf(error)));
  return html`<section class="snooze-box" aria-label=${snoozeWords.title}>
    ${found.map(
      (one) => html`<p key=${one.id}>
        ${snoozeWords.covers(one.scope)} ${snoozeWords.until} ${h(Time, { at: one.until })} <span class="quiet">
          ${commonWords.by(person(one.created_by))}</span>
        ${mayOperate.value && html` <button class="link" onClick=${() => end(one.id)}>${snoozeWords.end}</button>`}
      </p>`,
    )}
    ${
      mayOperate.value &&
      found.length === 0 &&
      html`<button class="link" onClick=${() => setAdding(true)}>
        ${snoozeWords.ofDisplay}</button>`
    }
    <p class="form-error" role="alert">${failed}</p>
    ${adding && h(SnoozeDialog, { close, done: changed, display: { uuid, name } })}
  </section>`;
}
