/** Times, ages, sizes, counts and names in words. Deadlines are exact, ages are short; the zone is the browser's. */
import { serverNow } from "./clock.js";
import { language, locale } from "./language.js";
import { unitWords } from "./words/units.js";

const clockTime = new Intl.DateTimeFormat(locale, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const hourTime = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const dayTime = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const yearTime = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });
const whole = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "long", hourCycle: "h23" });
const decimals = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });

/** @param {number} n */
export const number = (n) => decimals.format(n);

/** A number and its noun. @param {number} n @param {string} one @param {string} other */
export const count = (n, one, other) => `${number(n)} ${n === 1 ? one : other}`;

/** "A, B and C". @param {string[]} parts */
export const allOf = (parts) => new Intl.ListFormat(language).format(parts);

export const zoneName = Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * Clock time of today ("14:02:11"), day and time of another day ("3 Nov, 14:02"), with the year if it is not this one.
 * The server's clock decides which day is today.
 * @param {string} at
 */
export function exact(at) {
  const when = new Date(at);
  const today = new Date(serverNow());
  if (when.toDateString() === today.toDateString()) return clockTime.format(when);
  return (when.getFullYear() === today.getFullYear() ? dayTime : yearTime).format(when);
}

/** The same without seconds: "06:00". @param {string} at */
export function shortTime(at) {
  const when = new Date(at);
  return when.toDateString() === new Date(serverNow()).toDateString() ? hourTime.format(when) : exact(at);
}

/** A whole number of a unit of time: "3 min". @param {number} n @param {"second" | "minute" | "hour" | "day"} unit */
export const inUnit = (n, unit) => `${Math.round(n)}${unitWords.space}${unitWords[unit]}`;

/** @param {number} seconds */
function inUnits(seconds) {
  if (seconds < 90) return inUnit(seconds, "second");
  if (seconds < 90 * 60) return inUnit(seconds / 60, "minute");
  if (seconds < 36 * 3600) return inUnit(seconds / 3600, "hour");
  return inUnit(seconds / 86400, "day");
}

/** How long ago, in words: "12 s ago". @param {string} at @param {number} reference milliseconds */
export function ago(at, reference) {
  return unitWords.ago({ age: inUnits(Math.max(0, (reference - Date.parse(at)) / 1000)) });
}

/** Time left until `at` as "0:42" or "1:02:03"; never negative. @param {string} at @param {number} reference */
export function left(at, reference) {
  const seconds = Math.max(0, Math.ceil((Date.parse(at) - reference) / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, i) => (i ? String(part).padStart(2, "0") : String(part))).join(":");
}

/**
 * The full date with the time zone, which distinguishes equal clock times when the clocks change.
 * @param {string} at
 */
export const full = (at) => whole.format(new Date(at));

/** With a small first letter, inside a sentence. @param {string} text */
export const small = (text) => text.charAt(0).toLowerCase() + text.slice(1);

/** With a capital, at the beginning of one. @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A caller's name: "user:anna" is anna, "token:ci#54bdd99d" is ci. @param {string} actor */
export function person(actor) {
  return actor.replace(/^user:|^token:|#[0-9a-f]{8,}$/g, "");
}

/**
 * A display's name for people: its name, else its host name, else the start of its uuid.
 * @param {{name?: string, hostname?: string | null, uuid: string}} client
 */
export function nameOf(client) {
  return client.name || client.hostname || client.uuid.slice(0, 8);
}

/** Its name and its site, for where the same name may stand twice. @param {Parameters<typeof nameOf>[0] & {site?: string | null}} client */
export const nameAndSite = (client) => [nameOf(client), client.site].filter(Boolean).join(", ");
