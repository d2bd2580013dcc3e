/** The scheduled commands of the fleet: what is planned, and what is over. */
import { h } from "../vendor/preact.js";
import { useState } from "../vendor/hooks.js";
import { listSchedules } from "../lib/api/schedules.js";
import { classes, html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { mayOperate } from "../lib/session.js";
import { go } from "../lib/url.js";
import { commonWords } from "../lib/words/first.js";
import { scheduleWords } from "../lib/words/schedules.js";
import { EmptySites } from "./empty_sites.js";
import { ListState } from "./list_state.js";
import { ScheduleDialog } from "./schedule_form.js";
import { Buttons, Facts, State, titleOf } from "./schedule_parts.js";

/** @typedef {import("../lib/openapi").CommandSchedule} Schedule */

/** @param {{one: Schedule, done: (words: string) => void}} props */
function Row({ one, done }) {
  const batch = one.last?.batch_id;
  const urgent = one.state === "held" || one.last?.outcome === "missed";
  return html`<li class=${classes("token", !one.next_at && "over")}>
    <span class="token-body"><strong>${titleOf(one)}</strong>
      <span>${h(State, { one })}</span>
      <span class="quiet">${h(Facts, { one })}</span>
      ${one.next_at && h(EmptySites, { sites: one.empty_sites })}
      ${one.reason && html`<span class="quiet">${one.reason}</span>`}</span>
    <span class=${classes("tag", urgent && "tag-amber")}>${scheduleWords.state[one.state] ?? one.state}</span>
    ${batch && html`<button class="link" onClick=${() => go({ v: "batches", b: batch })}>${scheduleWords.batch}</button>`}
    ${h(Buttons, { one, done })}
  </li>`;
}

/** @param {{current: boolean, about: string, done: (words: string) => void}} props */
function List({ current, about, done }) {
  const list = usePages(about, (cursor, abort) => listSchedules(current, cursor, abort));
  return html`${h(ListState, { list, failed: scheduleWords.failed })}
    ${list.items && html`<ul>${list.items.map((one) => h(Row, { key: one.id, one, done }))}</ul>`}
    ${list.items?.length === 0 && html`<p class="quiet">${current ? scheduleWords.none : scheduleWords.nonePast}</p>`}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }`;
}

export function Schedules() {
  const [planning, setPlanning] = useState(false);
  const [past, setPast] = useState(false);
  const [turn, setTurn] = useState(0); // something was just changed here
  const [said, setSaid] = useState("");
  const changed = () => setTurn(turn + 1);
  /** @param {string} words */
  const done = (words) => {
    setSaid(words);
    changed();
  };
  return html`<section class="card settings-card" aria-labelledby="schedules-title">
    <div class="log-head"><h2 id="schedules-title">${scheduleWords.title}</h2>
      ${
        mayOperate.value &&
        html`<button class="plain" onClick=${() => setPlanning(true)}>${scheduleWords.plan}
        </button>`
      }</div>
    <p class="quiet">${scheduleWords.lead}</p>
    <p class="done" role="status">${said}</p>
    ${h(List, { current: true, about: `planned ${turn}`, done })}
    ${
      past
        ? h(List, { current: false, about: `over ${turn}`, done })
        : html`<button class="link" onClick=${() => setPast(true)}>${scheduleWords.past}</button>`
    }
    ${planning && h(ScheduleDialog, { close: () => setPlanning(false), changed })}
  </section>`;
}
