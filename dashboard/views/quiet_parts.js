/** Whom a quiet time is about, and when: on its page and in the panel of a display. */
import { h } from "../vendor/preact.js";
import { clients, version } from "../lib/fleet.js";
import { full, nameOf } from "../lib/format.js";
import { html } from "../lib/html.js";
import { weekOf, weekWords } from "../lib/quiet_hours.js";
import { soon } from "../lib/quiet_now.js";
import { quietTimesWords } from "../lib/words/quiet_times.js";

/** @typedef {import("../lib/types").QuietTime} QuietTime */

/** @param {string} uuid */
export function displayName(uuid) {
  void version.value;
  const found = clients.get(uuid);
  return found ? nameOf(found) : uuid.slice(0, 8);
}

/**
 * Whom it is about, in a few words.
 * @param {{scope: string, site: string | null, tag: string | null, clients: string[]}} time
 */
export function whomOf({ scope, site, tag, clients: uuids }) {
  if (scope === "site") return site ?? "";
  if (scope === "tag") return quietTimesWords.tag({ tag: tag ?? "" });
  if (scope === "fleet") return quietTimesWords.fleet;
  return uuids.length === 1 && uuids[0] ? displayName(uuids[0]) : quietTimesWords.displays({ n: uuids.length });
}

/** A moment to the minute. @param {{at: string}} props */
function Soon({ at }) {
  return html`<time datetime=${at} title=${full(at)}>${soon(at)}</time>`;
}

/** When: its hours of the week, and from when until when. @param {{time: QuietTime}} props */
export function When({ time }) {
  const { state, occurrence, starts_at, hours, time_zone } = time;
  const week = weekWords(weekOf(hours));
  const weekly = time.preset === "opening_hours" ? quietTimesWords.open({ week }) : quietTimesWords.weekly({ week });
  const over = state === "over" || state === "ended";
  const begins = over ? starts_at : state === "planned" ? occurrence?.starts_at : null;
  const ends = over ? (time.ended_at ?? time.ends_at) : occurrence ? occurrence.ends_at : time.ends_at;
  return html`${hours.length > 0 && html`<span>${weekly} (${time_zone})</span>`}
    <span class="quiet-span">
      ${begins && html`${quietTimesWords.from} ${h(Soon, { at: begins })} `}
      ${ends ? html`${quietTimesWords.until} ${h(Soon, { at: ends })}` : quietTimesWords.untilEnded}</span>`;
}
