/** Days, lengths of time, shares and sizes in words. */
import { inUnit, number } from "./format.js";
import { language, locale } from "./language.js";
import { unitWords } from "./words/units.js";

const dayName = new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long" });
const weekdayName = new Intl.DateTimeFormat(locale, { weekday: "short" });
const percent = new Intl.NumberFormat(language, { style: "percent" });

/** The day in words: "Saturday, 21 November". @param {string} at */
export const day = (at) => dayName.format(new Date(at));

/** A short name of the day of the week: "Sat". @param {string} at */
export const weekday = (at) => weekdayName.format(new Date(at));

/** A length of time in its two largest units: "3 min 20 s", "2 d 4 h". @param {number} seconds */
export function duration(seconds) {
  const units = /** @type {const} */ ([
    [86400, "day"],
    [3600, "hour"],
    [60, "minute"],
    [1, "second"],
  ]);
  let rest = Math.max(1, Math.round(seconds));
  const parts = units.map(([length, unit]) => {
    const n = Math.floor(rest / length);
    rest -= n * length;
    return n ? inUnit(n, unit) : "";
  });
  const first = parts.findIndex(Boolean);
  return parts
    .slice(first, first + 2)
    .filter(Boolean)
    .join(unitWords.space && " ");
}

/** A share that never rounds up to all: 0.99996 is "99.9 %". @param {number} share 0 to 1 */
export function percentOf(share) {
  const shown = share < 1 ? Math.floor(share * 1000) / 10 : 100;
  return `${number(shown)}${unitWords.space}%`;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${number(bytes / 1e3)} kB`;
  return `${number(bytes / 1e6)} MB`;
}

/** @param {number} share 0 to 1 */
export const share = (share) => percent.format(share);
