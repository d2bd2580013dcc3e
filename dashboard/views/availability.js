/** The availability of every site in a period, and of one site by day and by display; to save and to print. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { knownFor, loadSite, loadSites, periodsUntil, shareOf, shareWords, together } from "../lib/availability.js";
import { serverNow } from "../lib/clock.js";
import { saveAvailability } from "../lib/exports.js";
import { html } from "../lib/html.js";
import { locale } from "../lib/language.js";
import { duration } from "../lib/measures.js";
import { go, openDisplay, param } from "../lib/url.js";
import { availabilityWords } from "../lib/words/availability.js";
import { wordsOf } from "../lib/problems.js";
import { shopWords } from "../lib/words/first.js";
import { ExportButton, LoadFailed, Loading } from "./parts.js";

/** @typedef {import("../lib/availability.js").Site} OneSite */
/** @typedef {import("../lib/availability.js").Sum} Sum */
/** @typedef {import("../lib/availability.js").Period} Period */

const MISSED_MOST = 0.1; // the share of a day that a full bar stands for
const HEIGHT = 40;
const site = param("site");
const nosite = param("nosite");
const since = param("since");
const until = param("until");
const monthName = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" });
const rangeName = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
const dayName = new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });

/** "November 2026", or "Nov 16 – 22, 2026". @param {Period} period */
function periodWords(period) {
  const [first, last] = [new Date(period.since), new Date(period.until)];
  const next = new Date(last.getTime() + 86_400_000);
  const isMonth =
    first.getUTCDate() === 1 && next.getUTCDate() === 1 && period.since.slice(0, 7) === period.until.slice(0, 7);
  return isMonth ? monthName.format(first) : rangeName.formatRange(first, last);
}

/** @param {string} day */
const isDay = (day) => /^2\d{3}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day));

/** A length of time, or nothing where there is none. @param {number} seconds */
const lasted = (seconds) => (seconds < 1 ? "" : duration(seconds));

/** The period in the address, or this week so far. @returns {Period} */
function periodShown() {
  const asked = { since: since.value, until: until.value };
  const { weeks, months } = periodsUntil(serverNow());
  return (
    (isDay(asked.since) && isDay(asked.until) && asked.since <= asked.until ? asked : (weeks[0] ?? months[0])) ?? asked
  );
}

/** @param {Period} period */
const keyOf = (period) => `${period.since} ${period.until}`;

/** @param {{shown: Period}} props */
function PeriodChoice({ shown }) {
  const { weeks, months } = periodsUntil(serverNow());
  /** @param {Event} event */
  const choose = (event) => {
    const [first = "", last = ""] = /** @type {HTMLSelectElement} */ (event.currentTarget).value.split(" ");
    go({ since: first, until: last });
  };
  /** @param {Event} event @param {"since" | "until"} end */
  const set = (event, end) => {
    const day = /** @type {HTMLInputElement} */ (event.currentTarget).value;
    if (!isDay(day)) return;
    const next = { ...shown, [end]: day };
    go(next.since <= next.until ? next : { since: day, until: day });
  };
  /** @param {Period} one @param {string} words */
  const option = (one, words) => html`<option key=${keyOf(one)} value=${keyOf(one)}>${words}</option>`;
  const named = [...weeks, ...months].some((one) => keyOf(one) === keyOf(shown));
  const { thisWeek, lastWeek, soFar } = availabilityWords;
  return html`<span class="period"><select aria-label=${availabilityWords.period} value=${keyOf(shown)} onChange=${choose}>
    ${!named && option(shown, periodWords(shown))}
    <optgroup label=${availabilityWords.weeks}>${weeks.map((one, i) => option(one, [thisWeek, lastWeek][i] ?? periodWords(one)))}</optgroup>
    <optgroup label=${availabilityWords.months}>${months.map((one, i) => option(one, i ? periodWords(one) : soFar({ month: periodWords(one) })))}</optgroup>
    </select>
    <input type="date" aria-label=${availabilityWords.first} value=${shown.since} onChange=${(/** @type {Event} */ event) => set(event, "since")} />
    <span aria-hidden="true">–</span>
    <input type="date" aria-label=${availabilityWords.last} value=${shown.until} onChange=${(/** @type {Event} */ event) => set(event, "until")} />
    </span>`;
}

/** For how long the displays are known, where that is not the whole period. @param {Sum} sum */
function knownWords(sum) {
  const known = knownFor(sum);
  return known ? availabilityWords.known({ time: duration(known), n: sum.displays }) : "";
}

/** The words of a time spent, as cells: on average for each display. @param {{sum: Sum}} props */
function Cells({ sum }) {
  const share = shareOf(sum);
  const known = knownWords(sum);
  return html`<td class="figure"><span class="strong">${shareWords(sum)}</span>${known && html`<br /><small class="quiet">${known}</small>`}</td>
    <td class=${share !== null && share < 1 ? "figure" : "figure quiet"}>${lasted(sum.down_seconds / sum.displays)}</td>
    <td class="figure quiet col-wide">${lasted(sum.unknown_seconds / sum.displays)}</td>`;
}

/** @param {{first: string, second?: string, label: string, children?: any}} props */
function Table({ first, second, label, children }) {
  const { share, down, downEach, unknown, unknownEach } = availabilityWords;
  return html`<table class="spent" aria-label=${label}><thead><tr>
      <th scope="col">${first}</th>${second && html`<th scope="col" class="col-wide">${second}</th>`}
      ${[share, second ? downEach : down].map((word) => html`<th key=${word} scope="col">${word}</th>`)}
      <th scope="col" class="col-wide">${second ? unknownEach : unknown}</th></tr></thead>
    <tbody>${children}</tbody></table>`;
}

/**
 * What was loaded, asked for again by `retry`.
 * @template T
 * @param {(abort: AbortSignal) => Promise<T>} load
 */
function useLoaded(load) {
  const [found, setFound] = useState(/** @type {T | null} */ (null));
  const [failed, setFailed] = useState("");
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setFailed("");
    load(abort.signal)
      .then((answer) => abort.signal.aborted || setFound(answer))
      .catch((error) => abort.signal.aborted || setFailed(wordsOf(error)));
    return () => abort.abort();
  }, [tries]);
  return { found, failed, retry: () => setTries(tries + 1) };
}

/** @param {{shown: Period}} props */
function Sites({ shown }) {
  const { found, failed, retry } = useLoaded((abort) => loadSites(shown, abort));
  const save = async () =>
    saveAvailability(
      shown,
      (found ?? []).map((one) => ({ name: "", uuid: "", ...one })),
    );
  if (failed) return h(LoadFailed, { text: availabilityWords.failed, why: failed, retry });
  if (!found) return h(Loading, { rows: 6 });
  if (!found.length) return html`<p class="note">${availabilityWords.none}</p>`;
  /** @param {NonNullable<typeof found>[number]} one */
  const row = (one) => {
    const open = () => go(one.site ? { site: one.site } : { nosite: "1" });
    return html`<tr key=${one.site} onClick=${open}><td><button class="link strong">${one.site || shopWords.none}</button></td>
      <td class="figure col-wide">${one.displays}</td>${h(Cells, { sum: one })}</tr>`;
  };
  return html`<section class="card" aria-label=${availabilityWords.sites}>
      <div class="toolbar"><h2>${periodWords(shown)}</h2>${h(Actions, { save })}</div>
      <div class="spent-site">${h(Sentences, { total: together(found), shown })}</div>
      ${h(Table, {
        first: availabilityWords.site,
        second: availabilityWords.displays,
        label: availabilityWords.sites,
        children: found.map(row),
      })}</section>`;
}

/** @param {{save: () => Promise<void>}} props */
function Actions({ save }) {
  return html`<span class="spent-actions">${h(ExportButton, { save, title: availabilityWords.csv })}
    <button class="link" onClick=${() => print()}>${availabilityWords.print}</button></span>`;
}

/** What was missed on each day. @param {{days: OneSite["days"]}} props */
function Days({ days }) {
  const width = 1 / days.length;
  return html`<svg class="month" viewBox=${`0 0 1 ${HEIGHT}`} preserveAspectRatio="none" role="img"
      aria-label=${days.map((day) => availabilityWords.day({ day: dayName.format(new Date(day.date)), share: shareWords(day) })).join("; ")}>
      ${days.map((day, i) => {
        const share = shareOf(day);
        const missed = share === null ? 0 : Math.min(1, (1 - share) / MISSED_MOST);
        const words = availabilityWords.day({ day: dayName.format(new Date(day.date)), share: shareWords(day) });
        const height = share === null ? 1 : Math.max(3, missed * HEIGHT);
        const kind = share === null ? "closed" : share < 1 ? "crashed" : "running";
        return html`<rect key=${day.date} class=${`strip-${kind}`} x=${(i + 0.1) * width} width=${0.8 * width}
          y=${HEIGHT - height} height=${height}><title>${words}</title></rect>`;
      })}</svg>
    <div class="strip-axis quiet"><span>${days[0] && dayName.format(new Date(days[0].date))}</span>
      <span>${days.length > 0 && dayName.format(new Date(days[days.length - 1]?.date ?? ""))}</span></div>
    <p class="quiet">${availabilityWords.scale}</p>`;
}

/** @param {{name: string, shown: Period}} props name: empty for displays without a site */
function Site({ name, shown }) {
  const { found, failed, retry } = useLoaded((abort) => loadSite(name, shown, abort));
  /** @param {OneSite["displays"][number]} one */
  const sum = (one) => ({ ...one, displays: 1, period_seconds: found?.total.period_seconds ?? 0 });
  const save = async () => saveAvailability(shown, found?.displays.map((one) => ({ site: name, ...sum(one) })) ?? []);
  const back = () => go({ site: null, nosite: null });
  return html`<button class="link" onClick=${back}>← ${availabilityWords.all}</button>
    ${failed && h(LoadFailed, { text: availabilityWords.failed, why: failed, retry })}
    ${!found && !failed && h(Loading, { rows: 6 })}
    ${
      found &&
      html`<section class="card spent-site" aria-label=${name || shopWords.none}>
      <div class="toolbar"><h2>${name || shopWords.none}</h2>${h(Actions, { save })}</div>
      ${h(Sentences, { total: found.total, shown, zone: found.time_zone })}
      ${found.displays.length > 0 && [html`<h3>${availabilityWords.days}</h3>`, h(Days, { days: found.days })]}
      ${
        found.displays.length === 0
          ? html`<p class="note">${availabilityWords.noneHere}</p>`
          : h(Table, {
              first: availabilityWords.display,
              label: availabilityWords.displays,
              children: found.displays.map(
                (one) => html`<tr key=${one.uuid} onClick=${() => openDisplay(one.uuid)}>
                  <td><button class="link strong">${one.name || one.uuid.slice(0, 8)}</button></td>${h(Cells, { sum: sum(one) })}</tr>`,
              ),
            })
      }</section>`
    }`;
}

/** @param {{total: Sum, shown: Period, zone?: string}} props */
function Sentences({ total, shown, zone }) {
  const { was, nothing, downFor, unknownFor, closedFor, knownEach } = availabilityWords;
  const [n, period, known] = [total.displays, periodWords(shown), knownFor(total)];
  /** @param {number} seconds */
  const each = (seconds) => ({ time: duration(seconds / n), n });
  const isKnown = shareOf(total) !== null;
  return html`<p><strong>${isKnown ? was({ share: shareWords(total), period, n }) : nothing({ period })}</strong>
    ${" "}${known !== null && known > 0 && knownEach({ time: duration(known), n })}
    ${" "}${total.down_seconds >= 1 && downFor(each(total.down_seconds))}
    ${" "}${isKnown && total.unknown_seconds >= 60 && unknownFor(each(total.unknown_seconds))}
    ${" "}${total.closed_seconds >= 60 && closedFor(each(total.closed_seconds))}
    ${" "}${zone && html`<span class="quiet">${availabilityWords.zone({ zone })}</span>`}</p>`;
}

export function AvailabilityPage() {
  const shown = periodShown();
  const one = site.value || nosite.value;
  const key = `${site.value} ${keyOf(shown)}`;
  return html`<div class="availability"><div class="page-head"><h1>${availabilityWords.title}</h1>${h(PeriodChoice, { shown })}</div>
    <p class="quiet lead">${availabilityWords.lead}</p>
    ${one ? h(Site, { name: site.value, shown, key }) : h(Sites, { shown, key })}</div>`;
}
