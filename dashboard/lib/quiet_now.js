/** The quiet times that are on now, in the few words that fit on a row, on a shop's tile and in a banner. */
import { serverNow } from "./clock.js";
import { person } from "./format.js";
import { locale } from "./language.js";
import { quietNowWords } from "./words/quiet_now.js";

/** @typedef {import("./types").QuietNow} QuietNow */
/** @typedef {{uuid: string, site?: string | null, tags?: string[] | null}} Place a display; of a shop only its site */
/**
 * @typedef {object} QuietIndex
 * @property {QuietNow[]} fleet
 * @property {Map<string, QuietNow[]>} site by name
 * @property {Map<string, QuietNow[]>} tag
 * @property {Map<string, QuietNow[]>} clients by uuid
 */

const clockTime = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const weekdayTime = new Intl.DateTimeFormat(locale, {
  weekday: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const dayTime = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const yearTime = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });
const DAY = 86_400_000;

/** Of several the one that says most. */
const RANK = Object.keys(quietNowWords.how);

/** @param {QuietNow} one */
const rank = (one) => (RANK.indexOf(one.preset) + RANK.length + 1) % (RANK.length + 1); // an unknown one comes last

/**
 * A moment to come in the viewer's zone: "23:30" today, "Fri 09:00" within a week, "3 Dec, 09:00", with the year if it is
 * another one.
 * @param {string} at @param {number} [reference] milliseconds; the server's time now
 */
export function soon(at, reference = serverNow()) {
  const when = new Date(at);
  const today = new Date(reference);
  if (when.toDateString() === today.toDateString()) return clockTime.format(when);
  const ahead = when.getTime() - reference;
  if (ahead > 0 && ahead < 6 * DAY) return weekdayTime.format(when);
  return (when.getFullYear() === today.getFullYear() ? dayTime : yearTime).format(when);
}

/** @param {Map<string, QuietNow[]>} map @param {string | null} key @param {QuietNow} one */
const add = (map, key, one) => key !== null && map.set(key, [...(map.get(key) ?? []), one]);

/** Sort quiet times by whom they are about, so that each row finds its own at once. @param {QuietNow[]} all */
export function indexed(all) {
  const index = /** @type {QuietIndex} */ ({ fleet: [], site: new Map(), tag: new Map(), clients: new Map() });
  for (const one of all) {
    if (one.scope === "fleet") index.fleet.push(one);
    else if (one.scope === "site") add(index.site, one.site, one);
    else if (one.scope === "tag") add(index.tag, one.tag, one);
    else for (const uuid of one.clients) add(index.clients, uuid, one);
  }
  return index;
}

/**
 * Those that apply to a display (or, without a uuid and tags, to the whole of a shop), the weightiest first.
 * @param {QuietIndex} index @param {Place} place
 */
export function quietFor(index, { uuid, site, tags }) {
  const found = [
    ...index.fleet,
    ...((site && index.site.get(site)) || []),
    ...(tags ?? []).flatMap((tag) => index.tag.get(tag) ?? []),
    ...(index.clients.get(uuid) ?? []),
  ];
  return found.sort((a, b) => rank(a) - rank(b) || a.id - b.id);
}

/** "In maintenance until 23:30, by ada"; "Closed until 09:00". @param {QuietNow} one @param {number} [reference] */
export function quietWord(one, reference) {
  const until = one.until ? quietNowWords.until({ time: soon(one.until, reference) }) : "";
  const by = one.preset === "opening_hours" ? "" : quietNowWords.by({ who: person(one.by) });
  return `${quietNowWords.how[one.preset] ?? quietNowWords.how["custom"]}${until}${by}`;
}

/** The same with its reason. @param {QuietNow} one @param {number} [reference] */
export const quietWhy = (one, reference) => quietWord(one, reference) + (one.reason && ` (${one.reason})`);

/**
 * What a row says: the word of the weightiest, and all of them with their reasons. Null: nothing is quiet.
 * @param {QuietIndex} index @param {Place} place @param {number} [reference]
 */
export function rowWords(index, place, reference) {
  const found = quietFor(index, place);
  const first = found[0];
  if (!first) return null;
  return { word: quietWord(first, reference), title: found.map((one) => quietWhy(one, reference)).join(" · ") };
}

/** Whether somebody may be at work there, so that a command is no small thing. @param {QuietNow} one */
export const isAtWork = (one) => one.quiet.includes("commands") || one.preset === "hold";

/**
 * What a person's command to this display cuts through, before it is sent; "" when nothing.
 * @param {QuietNow[]} found @param {number} [reference]
 */
export function cutWords(found, reference) {
  const cut = found.filter((one) => one.preset !== "snooze" && one.preset !== "leave_out");
  return cut.length ? quietNowWords.cuts({ what: cut.map((one) => quietWhy(one, reference)).join("; ") }) : "";
}

/** How many of the chosen displays a bulk command leaves waiting; "" when none. @param {number} n */
export const waitingWords = (n) => (n ? quietNowWords.waiting({ n }) : "");
