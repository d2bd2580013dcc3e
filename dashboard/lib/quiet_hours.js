/**
 * Weekly hours on this page: for each weekday its times, as `<input type=time>` writes them. Pure.
 *
 * The API's spans name several days at once, and "24:00"; here that is "00:00" of the next day, which means the same.
 */
import { listed, ranged } from "./lists.js";
import { hoursWords, weekdayWords } from "./words/weekdays.js";

/** @typedef {{days: string[], from: string, to: string, nights?: number}} QuietHours a span of the API */
/** @typedef {{from: string, to: string, nights: number | null}} Interval nights: null follows from the two times */
/** @typedef {Record<string, Interval[]>} Week */

export const DAYS = Object.keys(weekdayWords);
export const WORKDAYS = DAYS.slice(0, 5);
const LOCAL = /** @type {const} */ ({ weekday: "long", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const OF_A_DAY = 24 * 60;
const OF_A_WEEK = 7 * OF_A_DAY;

/** @returns {Week} */
export const emptyWeek = () => Object.fromEntries(DAYS.map((day) => [day, []]));

/** Times as "09:00", with seconds as "09:00:30": they compare as text. @param {string} text */
const clock = (text) => (text === "24:00" ? "00:00" : text);

/** How many midnights lie between the two, if nobody says. @param {string} from @param {string} to */
const usual = (from, to) => (to <= from ? 1 : 0);

/** @param {QuietHours[]} hours @returns {Week} */
export function weekOf(hours) {
  const week = emptyWeek();
  for (const span of hours) {
    const [from, to] = [clock(span.from), clock(span.to)];
    const nights = span.nights === undefined ? usual(from, to) : span.nights + (span.to === "24:00" ? 1 : 0);
    for (const day of span.days) week[day]?.push({ from, to, nights: nights === usual(from, to) ? null : nights });
  }
  for (const day of DAYS) week[day]?.sort((a, b) => (a.from < b.from ? -1 : 1));
  return week;
}

/** The fewest spans that say the same; days with the same times share one. @param {Week} week @returns {QuietHours[]} */
export function hoursOf(week) {
  /** @type {Map<string, QuietHours>} */
  const spans = new Map();
  for (const day of DAYS) {
    for (const { from, to, nights } of week[day] ?? []) {
      const key = `${from} ${to} ${nights}`;
      const span = spans.get(key) ?? { days: [], from, to, ...(nights !== null && { nights }) };
      span.days.push(day);
      spans.set(key, span);
    }
  }
  return [...spans.values()];
}

/**
 * Times to add to a day: the usual ones first, then four hours from an hour after the last.
 * @param {Interval[]} times of the day @returns {Interval}
 */
export function timesAfter(times) {
  const last = times.at(-1);
  if (!last) return { from: "09:00", to: "18:00", nights: null };
  const from = Math.min((minutes(last.to) || OF_A_DAY) + 60, OF_A_DAY - 60);
  return { from: timeOf(from), to: timeOf(Math.min(from + 240, OF_A_DAY)), nights: null };
}

/** @param {Interval} one */
const intervalWords = ({ from, to, nights }) =>
  `${ranged(from, to === "00:00" ? "24:00" : to)}${nights === null ? "" : ` (${hoursWords.nights({ n: nights })})`}`;

/** Days in a row as one: "Mon–Fri", "Sat, Sun". @param {string[]} days */
function dayWords(days) {
  /** @type {string[][]} */
  const runs = [];
  for (const day of days) {
    const run = runs.at(-1);
    if (run && DAYS.indexOf(run.at(-1) ?? "") + 1 === DAYS.indexOf(day)) run.push(day);
    else runs.push([day]);
  }
  const words = (/** @type {string[]} */ run) => run.map((day) => weekdayWords[day] ?? day);
  return listed(runs.map((run) => (run.length > 2 ? ranged(words(run)[0], words(run).at(-1)) : listed(words(run)))));
}

/** "Mon–Fri 09:00–13:00 and 15:00–19:30, Sat 10:00–18:00"; "" for an empty week. @param {Week} week */
export function weekWords(week) {
  /** @type {Map<string, string[]>} */
  const alike = new Map();
  for (const day of DAYS) {
    const text = (week[day] ?? []).map(intervalWords).join(hoursWords.and);
    if (text) alike.set(text, [...(alike.get(text) ?? []), day]);
  }
  return listed([...alike].map(([text, days]) => `${dayWords(days)} ${text}`));
}

/** @param {string} text "09:30" */
const minutes = (text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

/** @param {number} minute of a day */
const timeOf = (minute) =>
  `${String(Math.floor(minute / 60) % 24).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;

/** The times in minutes since Monday's midnight, joined where they touch. @param {Week} week */
function joined(week) {
  const all = DAYS.flatMap((day, i) =>
    (week[day] ?? [])
      .filter(({ from, to }) => from && to)
      .map(({ from, to, nights }) => {
        const start = i * OF_A_DAY + minutes(from);
        return { start, end: i * OF_A_DAY + minutes(to) + (nights ?? usual(from, to)) * OF_A_DAY };
      }),
  );
  // the week before reaches into this one, and this one into the next
  const around = [-1, 0, 1].flatMap((n) =>
    all.map(({ start, end }) => ({ start: start + n * OF_A_WEEK, end: end + n * OF_A_WEEK })),
  );
  /** @type {{start: number, end: number}[]} */
  const runs = [];
  for (const one of around.sort((a, b) => a.start - b.start)) {
    const last = runs.at(-1);
    if (last && one.start <= last.end) last.end = Math.max(last.end, one.end);
    else runs.push({ ...one });
  }
  return runs;
}

/** The local weekday and time there, in minutes since Monday's midnight. @param {string} zone @param {number} reference */
function minuteOfWeek(zone, reference) {
  const parts = partsAt(zone, reference);
  if (!parts) return null;
  const day = DAYS.indexOf((parts["weekday"] ?? "").toLowerCase());
  return day * OF_A_DAY + Number(parts["hour"]) * 60 + Number(parts["minute"]);
}

/** @param {string} zone @param {number} reference @returns {Record<string, string> | null} */
function partsAt(zone, reference) {
  try {
    const form = new Intl.DateTimeFormat("en-GB", { ...LOCAL, timeZone: zone });
    return Object.fromEntries(form.formatToParts(new Date(reference)).map(({ type, value }) => [type, value]));
  } catch {
    return null; // the service may know zones that a browser does not
  }
}

/**
 * Whether a moment lies within the hours, and when that changes, at the local time there: "19:30", "Fri 09:00" on another
 * day, null if it never does.
 * @param {Week} week @param {string} zone IANA @param {number} reference milliseconds since 1970
 * @returns {{within: boolean, changes: string | null} | null} null: this browser does not know the zone
 */
export function hoursNow(week, zone, reference) {
  const at = minuteOfWeek(zone, reference);
  if (at === null) return null;
  const runs = joined(week);
  const run = runs.find(({ start, end }) => start <= at && at < end);
  const next = run ? run.end : runs.find(({ start }) => start > at)?.start;
  if (next === undefined || (run && run.end - run.start >= OF_A_WEEK))
    return { within: run !== undefined, changes: null };
  const minute = ((next % OF_A_WEEK) + OF_A_WEEK) % OF_A_WEEK;
  const day = Math.floor(minute / OF_A_DAY);
  const time = timeOf(minute % OF_A_DAY);
  const isToday = next - at < OF_A_DAY && day === Math.floor(at / OF_A_DAY);
  return { within: run !== undefined, changes: isToday ? time : `${weekdayWords[DAYS[day] ?? ""]} ${time}` };
}
