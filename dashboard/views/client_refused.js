/** What one display sent that was put aside: how much of what, and for operators the messages themselves. */
import { h } from "../vendor/preact.js";
import { deadLettersOf } from "../lib/api/history.js";
import { html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { mayOperate } from "../lib/session.js";
import { go } from "../lib/url.js";
import { commonWords } from "../lib/words/first.js";
import { refusedWords } from "../lib/words/display.js";
import { ListState } from "./list_state.js";
import { Age, Time } from "./parts.js";

/** @typedef {import("../lib/types").Client} Client */
/** @typedef {import("../lib/types").DeadLetter} DeadLetter */

/** Counts and reasons of a day, in words. @param {{client: Client}} props */
export function Refused({ client }) {
  const { refused } = client;
  if (!refused?.length) return null;
  return html`<section class="connection" aria-label=${refusedWords.title}>
    <h3>${refusedWords.title}</h3>
    <ul class="history">${refused.map(
      (one) => html`<li key=${`${one.kind} ${one.reason}`}>
        ${one.words} <span class="quiet">${refusedWords.last} ${h(Age, { at: one.last_at })}</span></li>`,
    )}</ul>
    ${
      mayOperate.value &&
      html`<p><button class="link" onClick=${() => go({ tab: "refused" }, { replace: true })}>
          ${refusedWords.show}</button></p>`
    }
  </section>`;
}

/** @param {{letter: DeadLetter}} props */
function Row({ letter }) {
  const rest = letter.payload_bytes - new TextEncoder().encode(letter.payload).length;
  return html`<li class="history-row">
    <span class="history-what"><strong>${letter.topic.split("/").slice(2).join("/")}
      </strong> <span class="tag tag-orange">${letter.reason}</span></span>
    <span class="quiet">${h(Time, { at: letter.last_at })}
      ${letter.count > 1 && ` · ${refusedWords.times({ n: letter.count })}`}${letter.detail && ` · ${letter.detail}`}</span>
    ${letter.payload && html`<code class="payload" tabindex="0">${letter.payload}${rest > 0 ? "…" : ""}</code>`}
  </li>`;
}

/** The messages, the latest first. @param {{uuid: string}} props */
export function ClientRefused({ uuid }) {
  const list = usePages(uuid, (cursor, abort) => deadLettersOf(uuid, cursor, abort));
  const state = h(ListState, { list, failed: refusedWords.failed, rows: 3 });
  if (!list.items) return state;
  if (!list.items.length) return html`<p class="note">${refusedWords.none}</p>`;
  return html`${state}<ol class="history">${list.items.map((letter) => h(Row, { key: letter.id, letter }))}</ol>
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }`;
}
