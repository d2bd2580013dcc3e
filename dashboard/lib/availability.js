/** Months, and the availability of a site in one: the pages of the answer together. */
import { monthOfSite } from "./api/availability.js";
import { language } from "./language.js";
import { percentOf } from "./measures.js";

/** @typedef {import("./openapi").MonthOfSite} MonthOfSite */
/** @typedef {import("./openapi").DayOfSite} DayOfSite */
/** @typedef {import("./openapi").MonthOfClient} MonthOfClient */
/** @typedef {Pick<MonthOfClient, "up_seconds" | "down_seconds" | "unknown_seconds" | "closed_seconds">} TimeSpent */
/** @typedef {{time_zone: string, total: TimeSpent, days: DayOfSite[], displays: MonthOfClient[]}} Month */

export const MONTHS = 13; // this one and a year before it

/** The latest months, this one first: "2026-11", "2026-10". @param {number} now milliseconds */
export function monthsUntil(now) {
  const today = new Date(now);
  return Array.from({ length: MONTHS }, (_, ago) => {
    const month = new Date(today.getFullYear(), today.getMonth() - ago, 1);
    return `${month.getFullYear()}-${String(month.getMonth() + 1).padStart(2, "0")}`;
  });
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

/** The worst first; those of which nothing is known last. @param {MonthOfClient[]} displays */
export const worstFirst = (displays) =>
  [...displays].sort((a, b) => (shareOf(a) ?? 2) - (shareOf(b) ?? 2) || names.compare(a.name, b.name));

/** One month from the pages of its answer. @param {MonthOfSite[]} pages @returns {Month} */
export function monthFrom(pages) {
  const days = pages[0]?.days ?? [];
  return {
    time_zone: pages[0]?.time_zone ?? "",
    total: sumOf(pages.flatMap((page) => page.days)),
    days: days.map((day, i) => ({ ...day, ...sumOf(pages.flatMap((page) => page.days[i] ?? [])) })),
    displays: worstFirst(pages.flatMap((page) => page.items)),
  };
}

/** @param {string} site empty for displays without one @param {string} month @param {AbortSignal} abort */
export async function loadMonth(site, month, abort) {
  const pages = [await monthOfSite(site, month, null, abort)];
  for (let cursor = pages[0]?.next_cursor; cursor;) {
    const page = await monthOfSite(site, month, cursor, abort);
    pages.push(page);
    cursor = page.next_cursor;
  }
  return monthFrom(pages);
}
