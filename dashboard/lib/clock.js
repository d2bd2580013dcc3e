/**
 * The server's clock, as well as this page knows it. Ages and countdowns use it, so a browser whose
 * own clock is wrong still shows the right age.
 */
import { signal } from "../vendor/signals.js";

/** Milliseconds that the server's clock is ahead of this browser's. */
let ahead = 0;

/** The server's time in milliseconds since 1970, renewed each second: a component that reads it ticks. */
export const now = signal(Date.now());

/**
 * Learn the server's clock from an answer.
 * @param {string} serverTime when the server answered
 * @param {number} startedAt `Date.now()` when the request was sent
 */
export function learn(serverTime, startedAt) {
  const heard = Date.now();
  ahead = Date.parse(serverTime) - (startedAt + heard) / 2;
  now.value = heard + ahead;
}

/** The server's time now, without making anything tick. */
export function serverNow() {
  return Date.now() + ahead;
}

/** From now on `now` is renewed while the page is visible. */
export function startTicking() {
  setInterval(() => {
    if (!document.hidden) now.value = serverNow();
  }, 1000);
}
