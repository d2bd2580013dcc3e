/** What happened to one display, newest first: states, failures, errors, commands, recovery and changes in one line. */
import { h } from "../vendor/preact.js";
import { useEffect } from "../vendor/hooks.js";
import { eventsOf } from "../lib/api/history.js";
import { day } from "../lib/measures.js";
import { html } from "../lib/html.js";
import { usePages } from "../lib/pages.js";
import { commonWords } from "../lib/words/first.js";
import { eventWords } from "../lib/words/events.js";
import { Glyph, LoadFailed, Loading, Time } from "./parts.js";

/** @typedef {import("../lib/types").Event} Event */

const LONGEST = 200;

/** @type {Record<string, string>} */
const SHAPES = {
  service_failed: "warning",
  service_cleared: "running",
  log: "log",
  command: "command",
  recovery: "recovery",
  registered: "registered",
  audit: "audit",
};

/** The glyph and the colour of an event. @param {Event} event @returns {[string, string]} */
function looks(event) {
  if (event.kind === "state") {
    const to = String(event.details["to"] ?? "unknown");
    return [to, `status-${to}`];
  }
  if (event.kind === "screen") return event.details["fails"] ? ["warning", "tag-orange"] : ["running", ""];
  const tone = event.kind === "service_failed" ? "tag-orange" : event.kind === "log" ? "status-crashed" : "";
  return [SHAPES[event.kind] ?? "unknown", tone];
}

/** As long as the server's own title. @param {string} text */
const short = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

/** @param {{event: Event}} props */
function Row({ event }) {
  const [shape, tone] = looks(event);
  return html`<li class="event">
    <span class=${`event-mark ${tone}`}>${h(Glyph, { shape })}</span>
    <span class="event-text"><span class="visually-hidden">${eventWords.kind[event.kind] ?? event.kind}: </span>
      ${short(event.title)}</span>
    <span class="event-time quiet">${h(Time, { at: event.at })}</span>
  </li>`;
}

/** The events with a heading before each new day. @param {Event[]} events */
function byDay(events) {
  let before = "";
  return events.flatMap((event, i) => {
    const today = day(event.at);
    const heading = today === before ? [] : [html`<li key=${`day-${today}`} class="event-day quiet">${today}</li>`];
    before = today;
    return [...heading, h(Row, { key: `${event.at}-${event.kind}-${i}`, event })];
  });
}

/** @param {{uuid: string, status: string}} props status: asked for again when it changes */
export function ClientEvents({ uuid, status }) {
  const list = usePages(uuid, (cursor, abort) => eventsOf(uuid, cursor, abort));
  useEffect(() => {
    if (list.items) list.reload();
  }, [status]);
  if (!list.items)
    return list.failed
      ? h(LoadFailed, { text: eventWords.failed, why: list.why, retry: list.reload })
      : h(Loading, { rows: 4 });
  return html`<div class="event-tools"><button class="link" disabled=${list.busy} onClick=${list.reload}>
        ${commonWords.reload}</button></div>
    <ol class="events" aria-busy=${list.busy}>${byDay(list.items)}</ol>
    ${list.items.length === 0 && html`<p class="note">${eventWords.none}</p>`}
    ${list.failed && h(LoadFailed, { text: eventWords.failed, why: list.why, retry: list.reload })}
    ${
      list.more &&
      html`<button class="plain more" disabled=${list.busy} onClick=${list.loadMore}>${commonWords.more}
      </button>`
    }`;
}
