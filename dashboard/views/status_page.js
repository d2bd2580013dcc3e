/** How the displays of one site are, for whoever has a link. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { statusPage } from "../lib/api/status_page.js";
import { learn } from "../lib/clock.js";
import { exact } from "../lib/format.js";
import { html } from "../lib/html.js";
import { language, locale } from "../lib/language.js";
import { duration } from "../lib/measures.js";
import { poll } from "../lib/poll.js";
import { statusPageWords as words } from "../lib/words/status_page.js";
import { Glyph, Loading } from "./parts.js";

/** @typedef {import("../lib/openapi").StatusPage} Page */
/** @typedef {import("../lib/openapi").StatusOfDisplay} Display */

const PERIOD = 60_000;
const WEEK = 7 * 24 * 3_600_000;
const HEIGHT = 20;
/** The class of a letter of `hours` and its height: trouble towers. @type {Record<string, [string, number]>} */
const BARS = { r: ["week-r", 10], n: ["week-n", 20], u: ["week-u", 4], "-": ["week-closed", 1] };
/** The look of each state among those of the fleet page. @type {Record<string, string>} */
const LOOKS = { running: "running", not_running: "crashed", off: "stopped", unknown: "unknown" };
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const names = new Intl.Collator(language, { numeric: true });

/** The word for a letter of `hours`; asked when the reader's language is loaded. @param {string} letter */
function wordOf(letter) {
  const states = { r: words.states["running"], n: words.states["not_running"], u: words.states["unknown"] };
  return /** @type {Record<string, string | undefined>} */ (states)[letter] ?? words.closed;
}

/** @param {{hours: string}} props */
function Week({ hours }) {
  const found = Object.keys(BARS).flatMap((letter) => {
    const at = [...hours].flatMap((one, i) => (one === letter ? [i] : []));
    return at.length ? [{ letter, at, bar: BARS[letter] ?? ["", 0] }] : [];
  });
  const text = words.bar({
    parts: found.map(({ letter, at }) => words.part({ n: at.length, state: wordOf(letter) })).join(", "),
  });
  return html`<svg class="week" viewBox=${`0 0 ${hours.length} ${HEIGHT}`} preserveAspectRatio="none" role="img"
    aria-label=${text}><title>${text}</title>${found.map(
      ({ letter, at, bar }) =>
        html`<path key=${letter} class=${bar[0]}
          d=${at.map((x) => `M${x} ${HEIGHT - bar[1]}h1v${bar[1]}h-1z`).join("")} />`,
    )}</svg>`;
}

function Legend() {
  return html`<p class="quiet status-legend"><span>${words.week}</span>${Object.entries(BARS).map(
    ([letter, [look]]) =>
      html`<span key=${letter}><svg viewBox="0 0 10 10" aria-hidden="true"><path class=${look} d="M0 0h10v10h-10z" /></svg>
        ${wordOf(letter)}</span>`,
  )}</p>`;
}

/** @param {{display: Display, page: Page}} props */
function Row({ display, page }) {
  const { name, state, since, hours, availability } = display;
  const look = LOOKS[state] ?? "unknown";
  const isOld = Date.parse(since) <= Date.parse(page.as_of) - WEEK;
  const share = percent.format(Math.floor((availability ?? 0) * 1000) / 1000);
  const up =
    display.known_seconds === null
      ? words.up({ share })
      : words.upKnown({ share, time: duration(display.known_seconds) });
  return html`<li class="status-row"><strong>${name || words.noName}</strong>
    <span class=${`badge status-${look}`}>${h(Glyph, { shape: look })}${words.states[state] ?? state}</span>
    ${h(Week, { hours })}
    <p class="quiet">${isOld ? words.wholeWeek : words.since({ at: exact(since) })}${availability !== null && ` · ${up}`}</p></li>`;
}

/** @param {Page} page */
function sum({ displays }) {
  const number = (/** @type {string} */ wanted) => displays.filter(({ state }) => state === wanted).length;
  const [down, unknown, off] = [number("not_running"), number("unknown"), number("off")];
  if (!displays.length) return words.none;
  if (unknown === displays.length) return words.noneKnown;
  if (down || unknown)
    return [down && words.someDoNot({ n: down }), unknown && words.someUnknown({ n: unknown })]
      .filter(Boolean)
      .join(" ");
  if (off) return off === displays.length ? words.allOff : words.allOpenRun;
  return words.allRun;
}

/** Trouble stands first. @param {Display} display */
const rank = ({ state }) => (state === "not_running" ? 0 : state === "unknown" ? 1 : 2);

/** @param {{page: Page, failed: boolean}} props */
function Site({ page, failed }) {
  const rows = [...page.displays].sort((a, b) => rank(a) - rank(b) || names.compare(a.name, b.name));
  return html`<h1>${page.site}</h1>
    <p class="status-sum" role="status">${sum(page)}</p>
    ${page.incidents.map(
      (one) =>
        html`<p class="note-error" key=${one.began_at}>${h(Glyph, { shape: "warning" })}<span>
            ${one.cause === null ? words.incident({ at: exact(one.began_at) }) : one.cause}</span></p>`,
    )}
    ${
      rows.length > 0 && [
        html`<ul class="card">${rows.map((display, i) => h(Row, { key: i, display, page }))}</ul>`,
        h(Legend, {}),
      ]
    }
    ${page.more && html`<p>${words.more}</p>`}
    <p class="quiet">${words.asOf({ at: exact(page.as_of) })}</p>
    ${failed && html`<p class="note-error" role="alert">${words.notRefreshed}</p>`}`;
}

/** @param {{secret: string}} props */
export function StatusPage({ secret }) {
  const [page, setPage] = useState(/** @type {Page | null | undefined} */ (undefined));
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const look = async (/** @type {AbortSignal} */ abort) => {
      const began = Date.now();
      const found = await statusPage(secret, abort);
      setFailed(false);
      setPage(found);
      if (!found) return polled.stop(); // it never becomes valid again
      learn(found.as_of, began);
      document.title = `${found.site} · ${words.title}`;
    };
    const polled = poll(
      look,
      () => PERIOD,
      () => setFailed(true),
    );
    return polled.stop;
  }, [secret]);
  if (page === null) return html`<main class="status-page"><h1>${words.invalid}</h1></main>`;
  return html`<main class="status-page">
    ${page ? h(Site, { page, failed }) : failed ? html`<p role="alert">${words.notRefreshed}</p>` : h(Loading, { rows: 3 })}</main>`;
}
