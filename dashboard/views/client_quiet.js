/** What is quiet for one display now, why and until when, and the ways to leave it alone. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { quietTimesOf } from "../lib/api/quiet_times.js";
import { html } from "../lib/html.js";
import { poll } from "../lib/poll.js";
import { quietTimes } from "../lib/quiet.js";
import { mayOperate } from "../lib/session.js";
import { go } from "../lib/url.js";
import { retryingAfter } from "../lib/problems.js";
import { clientQuietWords, quietTimesWords } from "../lib/words/quiet_times.js";
import { LoadFailed } from "./parts.js";
import { EndQuiet } from "./quiet_end.js";
import { QuietDialog } from "./quiet_form.js";
import { When, whomOf } from "./quiet_parts.js";
import { quietClass } from "./quiet_style.js";

/** @typedef {import("../lib/types").ClientQuiet} ClientQuiet */
/** @typedef {import("../lib/types").QuietTime} QuietTime */

const PERIOD = 15_000;
const OFFERED = /** @type {const} */ ([
  ["hold", "hold"],
  ["snooze", "snooze"],
  ["maintenance", "maintenance"],
  ["leave_out", "leaveOut"],
]);

/** @param {string} uuid */
function useQuiet(uuid) {
  const [told, setTold] = useState(/** @type {ClientQuiet | null} */ (null));
  const [failed, setFailed] = useState("");
  const [asked, setAsked] = useState(0); // something was just changed here
  const fleet = quietTimes.value.map(({ id, until }) => `${id} ${until}`).join(); // or by somebody else
  useEffect(() => {
    const look = async (/** @type {AbortSignal} */ abort) => {
      setTold(await quietTimesOf(uuid, abort));
      setFailed("");
    };
    return poll(
      look,
      () => PERIOD,
      (error) => setFailed(retryingAfter(error)),
    ).stop;
  }, [uuid, asked, fleet]);
  return { told, failed, again: () => setAsked((n) => n + 1) };
}

/** @param {{time: QuietTime, edit: (time: QuietTime) => void, again: () => void}} props */
function Item({ time, edit, again }) {
  const preset = quietTimesWords.presets[time.preset] ?? time.preset;
  const whom = whomOf(time);
  return html`<li><p>${time.words} <span class="quiet quiet-when">${h(When, { time })}</span></p>
    ${
      mayOperate.value &&
      html`<div class="buttons"><button class="link" aria-label=${quietTimesWords.editOf({ preset, whom })}
          onClick=${() => edit(time)}>${quietTimesWords.edit}</button>
        ${h(EndQuiet, {
          id: time.id,
          covers: time.covers,
          label: quietTimesWords.endOf({ preset, whom }),
          name: `${preset}: ${whom}`,
          look: "link",
          done: again,
        })}</div>`
    }</li>`;
}

/** @param {{uuid: string}} props */
export function ClientQuietBox({ uuid }) {
  const { told, failed, again } = useQuiet(uuid);
  const [asking, setAsking] = useState(/** @type {QuietTime | string | null} */ (null));
  const close = () => setAsking(null);
  const done = () => {
    close();
    again();
  };
  const all = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go({ v: "quiet", c: uuid, which: null, kind: null });
  };
  return html`<section class=${`recovery-box ${quietClass}`} aria-label=${clientQuietWords.title}>
    <h3>${clientQuietWords.title}</h3>
    ${!told && failed && h(LoadFailed, { text: clientQuietWords.failed, why: failed })}
    ${!told && !failed && html`<p class="quiet" aria-busy="true">\u00a0</p>`}
    ${told && told.items.length === 0 && html`<p class="quiet">${clientQuietWords.nothing}</p>`}
    ${
      told &&
      told.items.length > 0 &&
      html`<ul class="quiet-items">
        ${told.items.map((time) => h(Item, { key: time.id, time, edit: setAsking, again }))}</ul>`
    }
    ${
      mayOperate.value &&
      html`<div class="buttons">${OFFERED.map(
        ([preset, word]) =>
          html`<button key=${preset} class="plain" onClick=${() => setAsking(preset)}>${clientQuietWords[word]}
          </button>`,
      )}</div>`
    }
    <p><a class="link" href=${`?v=quiet&c=${encodeURIComponent(uuid)}`} onClick=${all}>${clientQuietWords.all}</a></p>
    ${
      typeof asking === "string" &&
      h(QuietDialog, { preset: asking, whom: { scope: "clients", clients: [uuid] }, close, done })
    }
    ${asking && typeof asking !== "string" && h(QuietDialog, { time: asking, close, done })}
  </section>`;
}
