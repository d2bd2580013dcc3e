/** Every quiet time: what is on, what is planned, what is over; and the way to add, change and end one. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { listQuietTimes } from "../lib/api/quiet_times.js";
import { person } from "../lib/format.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { poll } from "../lib/poll.js";
import { quietTimes } from "../lib/quiet.js";
import { PRESETS } from "../lib/quiet_form.js";
import { mayOperate } from "../lib/session.js";
import { go, openDisplay, param } from "../lib/url.js";
import { commonWords } from "../lib/words/first.js";
import { quietTimesWords } from "../lib/words/quiet_times.js";
import { ListState } from "./list_state.js";
import { EndQuiet } from "./quiet_end.js";
import { QuietDialog } from "./quiet_form.js";
import { displayName, When, whomOf } from "./quiet_parts.js";
import { quietClass } from "./quiet_style.js";

/** @typedef {import("../lib/types").QuietTime} QuietTime */

const PERIOD = 15_000;
const which = param("which");
const kind = param("kind");
const client = param("c");

/** @param {{time: QuietTime, edit: (time: QuietTime) => void, changed: () => void}} props */
function Row({ time, edit, changed }) {
  const live = time.state === "on" || time.state === "planned";
  const preset = quietTimesWords.presets[time.preset] ?? time.preset;
  const whom = whomOf(time);
  const only = time.clients.length === 1 ? time.clients[0] : undefined;
  const said = [
    time.scope !== "clients" || time.covers !== time.clients.length ? quietTimesWords.displays({ n: time.covers }) : "",
    time.ended_by ? quietTimesWords.endedBy({ who: person(time.ended_by) }) : "",
  ].filter(Boolean);
  return html`<li class=${classes("token", !live && "over")}>
    <span class="token-body">
      <span class="quiet-head"><strong>${
        only ? html`<button class="link strong" onClick=${() => openDisplay(only)}>${whom}</button>` : whom
      }</strong>
        <span class="tag">${preset}</span>
        <span class=${classes("tag", time.state === "on" && "tag-amber")}>${quietTimesWords.state[time.state]}</span>
      </span>
      <span>${time.words}</span>
      <span class="quiet quiet-when">${h(When, { time })}</span>
      ${said.length > 0 && html`<span class="quiet">${said.join(" · ")}</span>`}
      ${time.note && html`<span class="cause">${time.note}</span>`}</span>
    ${
      live &&
      mayOperate.value &&
      html`<span class="buttons"><button class="plain" aria-label=${quietTimesWords.editOf({ preset, whom })}
          onClick=${() => edit(time)}>${quietTimesWords.edit}</button>
        ${h(EndQuiet, {
          id: time.id,
          covers: time.covers,
          label: quietTimesWords.endOf({ preset, whom }),
          name: `${preset}: ${whom}`,
          done: changed,
        })}</span>`
    }
  </li>`;
}

/** @param {{past: boolean}} props */
function Filters({ past }) {
  return html`<div class="quiet-filters"><div class="chips" role="group" aria-label=${quietTimesWords.which}>
      ${[false, true].map(
        (word) =>
          html`<button key=${word} class=${classes("chip", past === word && "on")} aria-pressed=${past === word}
            onClick=${() => go({ which: word ? "past" : null })}>
            ${word ? quietTimesWords.past : quietTimesWords.current}</button>`,
      )}</div>
    <select aria-label=${quietTimesWords.preset} value=${kind.value}
      onChange=${(/** @type {Event} */ event) => go({ kind: /** @type {HTMLSelectElement} */ (event.currentTarget).value })}>
      <option value="">${quietTimesWords.all}</option>
      ${PRESETS.map((preset) => html`<option key=${preset} value=${preset}>${quietTimesWords.presets[preset]}</option>`)}
    </select>
    ${
      client.value &&
      html`<span>${quietTimesWords.ofDisplay({ name: displayName(client.value) })} <button class="link"
          onClick=${() => go({ c: null })}>${quietTimesWords.ofAll}</button></span>`
    }</div>`;
}

/** Looks again when the fleet's answer told of other quiet times, and now and then. @param {string} about @param {() => void} renew */
function useRenewal(about, renew) {
  const told = quietTimes.value.map(({ id, until }) => `${id} ${until}`).join();
  useEffect(
    () =>
      poll(
        async () => renew(),
        () => PERIOD,
      ).stop,
    [about, told],
  );
}

export function QuietTimesPage() {
  const past = which.value === "past";
  const about = `${past} ${kind.value} ${client.value}`;
  const list = usePages(about, (cursor, abort) =>
    listQuietTimes({ current: !past, client: client.value, preset: kind.value, cursor }, abort),
  );
  const [asking, setAsking] = useState(/** @type {QuietTime | "new" | null} */ (null));
  useRenewal(about, list.renew);
  const close = () => setAsking(null);
  const done = () => {
    close();
    list.reload();
  };
  const filtered = Boolean(kind.value || client.value);
  const none = filtered ? quietTimesWords.noneOf : past ? quietTimesWords.nonePast : quietTimesWords.none;
  return html`<div class=${quietClass}><div class="page-head"><h1>${quietTimesWords.title}</h1>
      ${
        mayOperate.value &&
        html`<button class="primary" onClick=${() => setAsking("new")}>${quietTimesWords.add}
        </button>`
      }</div>
    <p class="quiet lead">${quietTimesWords.lead}</p>
    ${h(Filters, { past })}
    <section class="card" aria-label=${quietTimesWords.title}>
      ${h(ListState, { list, failed: quietTimesWords.failed, rows: 4 })}
      ${
        list.items &&
        html`<ul aria-busy=${list.busy}>
          ${list.items.map((time) => h(Row, { key: time.id, time, edit: setAsking, changed: list.reload }))}</ul>`
      }
      ${list.items?.length === 0 && html`<p class="note">${none}</p>`}
      ${
        list.more &&
        html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
        </button>`
      }
    </section>
    ${asking === "new" && h(QuietDialog, { preset: "maintenance", presets: PRESETS, close, done })}
    ${asking && asking !== "new" && h(QuietDialog, { time: asking, close, done })}</div>`;
}
