/** The availability of every site in a month, and of one site by day and by display; to save and to print. */
import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { loadMonth, monthsUntil, shareOf, shareWords } from "../lib/availability.js";
import { serverNow } from "../lib/clock.js";
import { saveAvailability } from "../lib/exports.js";
import { clients, overview, places, version } from "../lib/fleet.js";
import { html } from "../lib/html.js";
import { language, locale } from "../lib/language.js";
import { duration } from "../lib/measures.js";
import { shopsOf } from "../lib/shops.js";
import { go, openDisplay, param } from "../lib/url.js";
import { availabilityWords } from "../lib/words/availability.js";
import { commonWords } from "../lib/words/common.js";
import { wordsOf } from "../lib/words/problems.js";
import { shopWords } from "../lib/words/shops.js";
import { ExportButton, LoadFailed, Loading } from "./parts.js";

/** @typedef {import("../lib/availability.js").Month} Month */
/** @typedef {import("../lib/availability.js").TimeSpent} TimeSpent */

const SITES = 24; // asked for before somebody wants more
const MISSED_MOST = 0.1; // the share of a day that a full bar stands for
const HEIGHT = 40;
const site = param("site");
const nosite = param("nosite");
const month = param("month");
const monthName = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" });
const dayName = new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });

/** @param {string} name "2026-03" */
const monthWords = (name) => monthName.format(new Date(`${name}-15T12:00:00Z`));

/** A length of time, or nothing where there is none. @param {number} seconds */
const lasted = (seconds) => (seconds < 1 ? "" : duration(seconds));

/** The month that is shown: the last whole one, or the one in the address. */
function monthShown() {
  const months = monthsUntil(serverNow());
  return months.find((one) => one === month.value) ?? months[1] ?? "";
}

/** @param {{shown: string}} props */
function MonthChoice({ shown }) {
  const months = monthsUntil(serverNow());
  /** @param {Event} event */
  const choose = (event) => go({ month: /** @type {HTMLSelectElement} */ (event.currentTarget).value });
  return html`<select aria-label=${availabilityWords.month} value=${shown} onChange=${choose}>
    ${months.map((one, i) => {
      const words = monthWords(one);
      return html`<option key=${one} value=${one}>${i ? words : availabilityWords.soFar({ month: words })}</option>`;
    })}</select>`;
}

/** The words of a time spent, as cells. @param {{time: TimeSpent}} props */
function Cells({ time }) {
  const share = shareOf(time);
  return html`<td class="figure strong">${shareWords(time)}</td>
    <td class=${share !== null && share < 1 ? "figure" : "figure quiet"}>${lasted(time.down_seconds)}</td>
    <td class="figure quiet col-wide">${lasted(time.unknown_seconds)}</td>`;
}

/** @param {{first: string, second?: string, label: string, children?: any}} props */
function Table({ first, second, label, children }) {
  const { share, down, unknown } = availabilityWords;
  return html`<table class="spent" aria-label=${label}><thead><tr>
      <th scope="col">${first}</th>${second && html`<th scope="col" class="col-wide">${second}</th>`}
      ${[share, down].map((word) => html`<th key=${word} scope="col">${word}</th>`)}
      <th scope="col" class="col-wide">${unknown}</th></tr></thead>
    <tbody>${children}</tbody></table>`;
}

/**
 * Load a month of each site, one after another; the rows fill while they come.
 * @param {string[]} names @param {string} shown the month
 */
function useMonths(names, shown) {
  const [months, setMonths] = useState(/** @type {Map<string, Month>} */ (new Map()));
  const [failed, setFailed] = useState("");
  const [tries, setTries] = useState(0);
  const about = JSON.stringify([shown, names]);
  useEffect(() => {
    const abort = new AbortController();
    setFailed("");
    setMonths(new Map());
    const loadAll = async () => {
      for (const name of names) {
        const found = await loadMonth(name, shown, abort.signal);
        if (abort.signal.aborted) return;
        setMonths((before) => new Map(before).set(name, found));
      }
    };
    loadAll().catch((error) => abort.signal.aborted || setFailed(wordsOf(error)));
    return () => abort.abort();
  }, [about, tries]);
  return { months, failed, retry: () => setTries(tries + 1) };
}

/** @param {{shown: string}} props */
function Sites({ shown }) {
  void version.value;
  const [all, setAll] = useState(false);
  const shops = shopsOf(clients.values(), places.value);
  const order = new Intl.Collator(language, { numeric: true });
  const names = shops.map((shop) => shop.site ?? "").sort((a, b) => Number(!a) - Number(!b) || order.compare(a, b));
  const listed = all ? names : names.slice(0, SITES);
  const { months, failed, retry } = useMonths(listed, shown);
  const save = async () =>
    saveAvailability(
      shown,
      listed.flatMap((name) => {
        const found = months.get(name);
        return found ? [{ site: name, name: "", uuid: "", ...found.total }] : [];
      }),
    );
  if (!overview.value) return h(Loading, { rows: 6 });
  if (!names.length) return html`<p class="note">${availabilityWords.none}</p>`;
  /** @param {string} name */
  const row = (name) => {
    const found = months.get(name);
    const open = () => go(name ? { site: name } : { nosite: "1" });
    return html`<tr key=${name} onClick=${open}><td><button class="link strong">${name || shopWords.none}</button></td>
      <td class="figure col-wide">${found?.displays.length ?? ""}</td>
      ${found ? h(Cells, { time: found.total }) : html`<td class="quiet">${!failed && commonWords.loading}</td><td></td><td class="col-wide"></td>`}</tr>`;
  };
  return html`${failed && h(LoadFailed, { text: availabilityWords.failed, why: failed, retry })}
    <section class="card" aria-busy=${!failed && months.size < listed.length} aria-label=${availabilityWords.sites}>
      <div class="toolbar"><h2>${monthWords(shown)}</h2>
        ${h(Actions, { save, ready: months.size === listed.length })}</div>
      ${h(Table, {
        first: availabilityWords.site,
        second: availabilityWords.displays,
        label: availabilityWords.sites,
        children: listed.map(row),
      })}
      ${
        listed.length < names.length &&
        html`<button class="link" onClick=${() => setAll(true)}>${availabilityWords.showAll({ n: names.length })}</button>`
      }
    </section>`;
}

/** @param {{save: () => Promise<void>, ready: boolean}} props */
function Actions({ save, ready }) {
  if (!ready) return null;
  return html`<span class="spent-actions">${h(ExportButton, { save, title: availabilityWords.csv })}
    <button class="link" onClick=${() => print()}>${availabilityWords.print}</button></span>`;
}

/** What was missed on each day. @param {{days: Month["days"]}} props */
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

/** @param {{name: string, shown: string}} props name: empty for displays without a site */
function Site({ name, shown }) {
  const { months, failed, retry } = useMonths([name], shown);
  const found = months.get(name);
  const words = monthWords(shown);
  const save = async () => saveAvailability(shown, found?.displays.map((one) => ({ site: name, ...one })) ?? []);
  const back = () => go({ site: null, nosite: null });
  return html`<button class="link" onClick=${back}>← ${availabilityWords.all}</button>
    ${failed && h(LoadFailed, { text: availabilityWords.failed, why: failed, retry })}
    ${!found && !failed && h(Loading, { rows: 6 })}
    ${
      found &&
      html`<section class="card spent-site" aria-label=${name || shopWords.none}>
      <div class="toolbar"><h2>${name || shopWords.none}</h2>${h(Actions, { save, ready: true })}</div>
      ${h(Sentences, { found, words })}
      ${found.displays.length > 0 && [html`<h3>${availabilityWords.days}</h3>`, h(Days, { days: found.days })]}
      ${
        found.displays.length === 0
          ? html`<p class="note">${availabilityWords.noneHere}</p>`
          : h(Table, {
              first: availabilityWords.display,
              label: availabilityWords.displays,
              children: found.displays.map(
                (one) => html`<tr key=${one.uuid} onClick=${() => openDisplay(one.uuid)}>
                  <td><button class="link strong">${one.name || one.uuid.slice(0, 8)}</button></td>${h(Cells, { time: one })}</tr>`,
              ),
            })
      }</section>`
    }`;
}

/** @param {{found: Month, words: string}} props words: the month */
function Sentences({ found, words }) {
  const { total, displays, time_zone } = found;
  const { was, nothing, downFor, unknownFor, closedFor, zone } = availabilityWords;
  const known = shareOf(total) !== null;
  return html`<p><strong>${known ? was({ share: shareWords(total), month: words, n: displays.length }) : nothing({ month: words })}</strong>
    ${" "}${total.down_seconds >= 1 && downFor({ time: duration(total.down_seconds) })}
    ${" "}${known && total.unknown_seconds >= 60 && unknownFor({ time: duration(total.unknown_seconds) })}
    ${" "}${total.closed_seconds >= 60 && closedFor({ time: duration(total.closed_seconds) })}
    ${" "}<span class="quiet">${zone({ zone: time_zone })}</span></p>`;
}

export function AvailabilityPage() {
  const shown = monthShown();
  const one = site.value || nosite.value;
  return html`<div class="availability"><div class="page-head"><h1>${availabilityWords.title}</h1>${h(MonthChoice, { shown })}</div>
    <p class="quiet lead">${availabilityWords.lead}</p>
    ${one ? h(Site, { name: site.value, shown, key: `${site.value} ${shown}` }) : h(Sites, { shown })}</div>`;
}
