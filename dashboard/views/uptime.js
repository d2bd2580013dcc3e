/** How one display stood over time: a strip, shares in words, each time that it was away or crashed, and a week. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { uptimeOf } from "../lib/api/history.js";
import { serverNow } from "../lib/clock.js";
import { classes, html } from "../lib/html.js";
import { day, duration, weekday } from "../lib/measures.js";
import { poll } from "../lib/poll.js";
import { isPartly, piecesOf, uptimeSentence, windowOf } from "../lib/uptime.js";
import { weekOf } from "../lib/week.js";
import { dayWords } from "../lib/words/day.js";
import { retryingAfter } from "../lib/problems.js";
import { statusWords } from "../lib/words/first.js";
import { uptimeWords } from "../lib/words/uptime.js";
import { StateBar } from "./day_bar.js";
import { LoadFailed, Loading, Time } from "./parts.js";

/** @typedef {import("../lib/types").Uptime} Uptime */
/** @typedef {import("../lib/types").Segment} Segment */

const PERIOD = 60_000;
const WIDTH = 288; // one unit is five minutes of a day
const HEIGHT = 36;
const DAY = 86_400_000;
/** How high each state stands: trouble towers, so that colour is not the only sign. @type {Record<string, number>} */
const HEIGHTS = { running: 12, late: 20, starting: 16, stopped: 8, unknown: 5, stale: 28, crashed: 36 };
const BAD = new Set(["stale", "crashed"]);
const WEEK = 7; // days
const RANGES = /** @type {const} */ ([1, WEEK]);
const LISTED = 5;

/** @param {Segment} one @param {number} from @param {number} span milliseconds */
function bar(one, from, span) {
  const begins = Math.max(0, (Date.parse(one.from) - from) / span) * WIDTH;
  const ends = ((Date.parse(one.to) - from) / span) * WIDTH;
  const height = HEIGHTS[one.status] ?? HEIGHTS["unknown"] ?? 0;
  const width = Math.max(BAD.has(one.status) ? 1.5 : 0, ends - begins); // a short crash is seen all the same
  return html`<rect key=${one.from} class=${`strip-${one.status}`} x=${begins} y=${HEIGHT - height} width=${width}
    height=${height}>
    <title>${statusWords[one.status]}, ${duration((Date.parse(one.to) - Date.parse(one.from)) / 1000)}</title></rect>`;
}

/** @param {{uptime: Uptime, days: number, text: string}} props */
function Strip({ uptime: { segments, closed }, days, text }) {
  const last = segments[segments.length - 1];
  const until = last ? Date.parse(last.to) : serverNow();
  const from = until - days * DAY;
  const shown = segments.filter((one) => Date.parse(one.to) > from);
  const worstLast = [...shown].sort((a, b) => (HEIGHTS[a.status] ?? 0) - (HEIGHTS[b.status] ?? 0));
  return html`<svg class="strip" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
      aria-label=${text}>
      ${piecesOf(closed, from, until).map(
        ({ at, length, seconds, key }) =>
          html`<rect key=${`closed ${key}`} class="strip-closed" x=${at * WIDTH} width=${length * WIDTH}
            height=${HEIGHT}><title>${uptimeWords.closedFor({ time: duration(seconds) })}</title></rect>`,
      )}
      ${worstLast.map((one) => bar(one, from, until - from))}
    </svg>
    <div class="strip-axis quiet"><span>${h(Time, { at: new Date(from).toISOString() })}</span><span>${uptimeWords.now}
      </span></div>`;
}

/** @param {Segment} one */
const lengthOf = (one) => duration((Date.parse(one.to) - Date.parse(one.from)) / 1000);

/**
 * The times of trouble, newest first. Shows nothing where nothing is known: it may not have been calm.
 * @param {{uptime: Uptime, days: number, from: number}} props
 */
function Troubles({ uptime, days, from }) {
  const window = windowOf(uptime, days);
  const found = uptime.segments.filter((one) => BAD.has(one.status) && Date.parse(one.to) > from).reverse();
  if (!found.length && (!window || window.known_seconds === 0)) return null;
  if (!found.length)
    return html`<p class="quiet">${window && isPartly(window, days) ? uptimeWords.calmAsKnown : uptimeWords.calm}</p>`;
  return html`<ul class="troubles">${found.slice(0, LISTED).map(
    (one) => html`<li key=${one.from}>
      <span class=${`trouble strip-word-${one.status}`}>${statusWords[one.status]}</span>
      ${h(Time, { at: one.from })} <span class="quiet">${uptimeWords.lasted({ time: lengthOf(one) })}</span></li>`,
  )}</ul>${found.length > LISTED && html`<p class="quiet">${uptimeWords.more({ n: found.length - LISTED })}</p>`}`;
}

/** A bar for each of seven days. @param {{uptime: Uptime, until: number, text: string}} props */
function Week({ uptime, until, text }) {
  return html`<section class="uptime" aria-label=${dayWords.week}>
    <h3>${dayWords.week}</h3>
    ${text && html`<p>${text}</p>`}
    <ol class="seven-days">${weekOf(uptime, until).map(({ at, hours }) => {
      const when = new Date(at).toISOString();
      const said = (/** @type {string} */ parts) => dayWords.hours({ day: day(when), parts });
      return html`<li key=${at}>${h(StateBar, { states: hours, said, name: "one-day", width: Math.max(24, hours.length) })}
        <span class="quiet" aria-hidden="true">${weekday(when)}</span></li>`;
    })}</ol></section>`;
}

/** @param {{uuid: string, status: string}} props status: asked for again when it changes */
export function UptimeStrip({ uuid, status }) {
  const [days, setDays] = useState(/** @type {number} */ (RANGES[0]));
  const [uptime, setUptime] = useState(/** @type {Uptime | null} */ (null));
  const [failed, setFailed] = useState("");
  useEffect(() => {
    const look = async (/** @type {AbortSignal} */ abort) => {
      setUptime(await uptimeOf(uuid, WEEK, abort));
      setFailed("");
    };
    return poll(
      look,
      () => PERIOD,
      (error) => setFailed(retryingAfter(error)),
    ).stop;
  }, [uuid, status]);
  const text = uptime ? uptimeSentence(uptime, days) : "";
  const last = uptime?.segments[uptime.segments.length - 1];
  const until = last ? Date.parse(last.to) : 0;
  const week = uptime ? uptimeSentence(uptime, WEEK) : "";
  return html`<section class="uptime" aria-label=${uptimeWords.title}>
    <div class="uptime-head"><h3>${uptimeWords.title}</h3>
      <div class="chips" role="group" aria-label=${uptimeWords.range}>${RANGES.map(
        (n) =>
          html`<button key=${n} class=${classes("chip", days === n && "on")} aria-pressed=${days === n}
            onClick=${() => setDays(n)}>${uptimeWords.days({ n })}</button>`,
      )}</div></div>
    ${!uptime && (failed ? h(LoadFailed, { text: uptimeWords.failed, why: failed }) : h(Loading, { rows: 1 }))}
    ${
      uptime && [
        html`<p>${text}
        </p>`,
        h(Strip, { uptime, days, text }),
        h(Troubles, { uptime, days, from: until - days * DAY }),
      ]
    }
  </section>
  ${uptime && last && h(Week, { uptime, until, text: week === text ? "" : week })}`;
}
