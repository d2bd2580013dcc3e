/**
 * An estimate of the server's clock. Ages and countdowns use it, so that a browser with a wrong clock shows the right
 * age.
 */
import { signal } from "../vendor/signals.js";

/** Server's clock minus this browser's clock, in milliseconds. */
let ahead = 0;

/** The server's time in milliseconds since 1970, updated each second: a component that reads it renders again. */
export const now = signal(Date.now());

/**
 * Update the estimate from an answer of the server.
 * @param {string} serverTime when the server answered
 * @param {number} startedAt `Date.now()` when the request was sent
 */
export function learn(serverTime, startedAt) {
  const heard = Date.now();
  ahead = Date.parse(serverTime) - (startedAt + heard) / 2;
  now.value = heard + ahead;
}

/** The server's time now; reading it causes no render. */
export function serverNow() {
  return Date.now() + ahead;
}

/** Update `now` from now on, while the page is visible. */
export function startTicking() {
  setInterval(() => {
    if (!document.hidden) now.value = serverNow();
  }, 1000);
}
