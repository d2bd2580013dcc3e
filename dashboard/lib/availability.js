/** Periods, and the availability of sites in them. */
import { periodOfSite, periodOfSites } from "./api/availability.js";
import { language } from "./language.js";
import { percentOf } from "./measures.js";
import { isPartly } from "./uptime.js";

/** @typedef {import("./openapi").SpentAtSite} SpentAtSite */
/** @typedef {import("./openapi").DayOfSite} DayOfSite */
/** @typedef {import("./openapi").SpentByClient} SpentByClient */
/** @typedef {Pick<SpentByClient, "up_seconds" | "down_seconds" | "unknown_seconds" | "closed_seconds">} TimeSpent */
/** @typedef {TimeSpent & {displays: number, period_seconds: number}} Sum seconds of so many displays together */
/** @typedef {{since: string, until: string}} Period both days are included: "2026-11-16" */
/** @typedef {{time_zone: string, total: Sum, days: DayOfSite[], displays: SpentByClient[]}} Site */

const WEEKS = 8;
const MONTHS = 13; // this one and a year before it
const DAY_SECONDS = 86_400;

/** A day of the reader's zone. @param {number} year @param {number} month @param {number} day */
function dateOf(year, month, day) {
  const at = new Date(year, month, day);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((n) => String(n).padStart(2, "0")).join("-");
}

/** The latest weeks, from Monday to Sunday, and months, these first. @param {number} now milliseconds */
export function periodsUntil(now) {
  const today = new Date(now);
  const [year, month] = [today.getFullYear(), today.getMonth()];
  const monday = today.getDate() - ((today.getDay() + 6) % 7);
  const weeks = Array.from({ length: WEEKS }, (_, ago) => ({
    since: dateOf(year, month, monday - 7 * ago),
    until: dateOf(year, month, monday - 7 * ago + 6),
  }));
  const months = Array.from({ length: MONTHS }, (_, ago) => ({
    since: dateOf(year, month - ago, 1),
    until: dateOf(year, month - ago + 1, 0),
  }));
  return { weeks, months };
}

const NOTHING = { up_seconds: 0, down_seconds: 0, unknown_seconds: 0, closed_seconds: 0 };

/** All these times together. @param {TimeSpent[]} times @returns {TimeSpent} */
export const sumOf = (times) =>
  times.reduce(
    (sum, one) => ({
      up_seconds: sum.up_seconds + one.up_seconds,
      down_seconds: sum.down_seconds + one.down_seconds,
      unknown_seconds: sum.unknown_seconds + one.unknown_seconds,
      closed_seconds: sum.closed_seconds + one.closed_seconds,
    }),
    NOTHING,
  );

/** The share of the known open time in which the player ran; null where nothing is known. @param {TimeSpent} time */
export function shareOf({ up_seconds, down_seconds }) {
  return up_seconds + down_seconds > 0 ? up_seconds / (up_seconds + down_seconds) : null;
}

/** The same in words: "99.2 %", or a dash. @param {TimeSpent} time */
export function shareWords(time) {
  const share = shareOf(time);
  return share === null ? "–" : percentOf(share);
}

const names = new Intl.Collator(language, { numeric: true });

/** The worst first; those of which nothing is known last. @param {SpentByClient[]} displays */
export const worstFirst = (displays) =>
  [...displays].sort((a, b) => (shareOf(a) ?? 2) - (shareOf(b) ?? 2) || names.compare(a.name, b.name));

/**
 * For how many seconds each display is known, on average; null for (nearly) the open time of the period.
 * @param {Sum} sum
 */
export function knownFor({ displays, period_seconds, up_seconds, down_seconds, closed_seconds }) {
  const known_seconds = up_seconds + down_seconds;
  const days = (period_seconds * displays) / DAY_SECONDS;
  return isPartly({ known_seconds, closed_seconds }, days) ? known_seconds / Math.max(1, displays) : null;
}

/** The figures of some sites together. @param {Sum[]} sums @returns {Sum} */
export const together = (sums) => ({
  ...sumOf(sums),
  displays: sums.reduce((n, one) => n + one.displays, 0),
  period_seconds: Math.max(0, ...sums.map((one) => one.period_seconds)),
});

/** One site from the pages of its answer. @param {SpentAtSite[]} pages @returns {Site} */
export function siteFrom(pages) {
  const [first] = pages;
  const displays = pages.flatMap((page) => page.items);
  return {
    time_zone: first?.time_zone ?? "",
    total: { ...sumOf(displays), displays: displays.length, period_seconds: first?.period_seconds ?? 0 },
    days: (first?.days ?? []).map((day, i) => ({ ...day, ...sumOf(pages.flatMap((page) => page.days[i] ?? [])) })),
    displays: worstFirst(displays),
  };
}

/** @param {string} site empty for displays without one @param {Period} period @param {AbortSignal} abort */
export async function loadSite(site, period, abort) {
  const pages = [await periodOfSite(site, period, null, abort)];
  for (let cursor = pages[0]?.next_cursor; cursor;) {
    const page = await periodOfSite(site, period, cursor, abort);
    pages.push(page);
    cursor = page.next_cursor;
  }
  return siteFrom(pages);
}

/** Every site by name, displays without one last. @param {Period} period @param {AbortSignal} abort */
export async function loadSites(period, abort) {
  const { items } = await periodOfSites(period, abort);
  return items.sort((a, b) => Number(!a.site) - Number(!b.site) || names.compare(a.site, b.site));
}
