/** How one display stood over time, within the opening hours of its shop. Pure. */
import { duration, percentOf } from "./measures.js";
import { uptimeWords } from "./words/uptime.js";

/** @typedef {import("./types").Uptime} Uptime */
/** @typedef {Uptime["windows"][number]} Window */

const DAY_SECONDS = 86_400;
const KNOWN_ENOUGH = 0.95; // share of the open time; with less the sentence says how much of it is known

/** @param {Pick<Uptime, "windows">} uptime @param {number} days */
export const windowOf = (uptime, days) => uptime.windows.find((one) => one.hours === days * 24);

/** Whether little is known of the time that counts. @param {Pick<Window, "known_seconds" | "closed_seconds">} window @param {number} days */
export const isPartly = (window, days) =>
  window.known_seconds < KNOWN_ENOUGH * Math.max(0, days * DAY_SECONDS - window.closed_seconds);

/** The shares in one sentence, and how long the shop was closed. @param {Pick<Uptime, "windows">} uptime @param {number} days */
export function uptimeSentence(uptime, days) {
  const window = windowOf(uptime, days);
  if (!window) return uptimeWords.nothingKnown;
  const closed = window.closed_seconds > 60 ? ` ${uptimeWords.closed({ time: duration(window.closed_seconds) })}` : "";
  if (window.known_seconds === 0)
    return closed && window.unknown_seconds < 60 ? closed.trim() : uptimeWords.nothingKnown + closed;
  const up = percentOf((window.shares["running"] ?? 0) + (window.shares["late"] ?? 0));
  if (isPartly(window, days))
    return uptimeWords.partly({ known: duration(window.known_seconds), share: up, days_n: days }) + closed;
  const unknown =
    window.unknown_seconds > 60 ? ` ${uptimeWords.unknown({ time: duration(window.unknown_seconds) })}` : "";
  return (
    (closed ? uptimeWords.upWhileOpen({ share: up, days_n: days }) : uptimeWords.up({ share: up, days_n: days })) +
    unknown +
    closed
  );
}

/**
 * The parts of some times that a strip shows: where each begins and how long it is, as shares of the strip.
 * @param {{from: string, to: string}[]} times @param {number} from milliseconds @param {number} until
 * @returns {{at: number, length: number, seconds: number, key: string}[]}
 */
export function piecesOf(times, from, until) {
  return times
    .map((one) => ({ begins: Math.max(from, Date.parse(one.from)), ends: Math.min(until, Date.parse(one.to)), one }))
    .filter(({ begins, ends }) => begins < ends)
    .map(({ begins, ends, one }) => ({
      at: (begins - from) / (until - from),
      length: (ends - begins) / (until - from),
      seconds: (ends - begins) / 1000,
      key: one.from,
    }));
}
