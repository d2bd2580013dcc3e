/** The history of one display, and acknowledged failures. */
import { call, search } from "./call.js";
import { clientPath } from "./fleet.js";
import { serverNow } from "../clock.js";

/**
 * @param {string} uuid @param {number} days how far back the segments go @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Uptime>}
 */
export function uptimeOf(uuid, days, abort) {
  return call("GET", `${clientPath(uuid)}/uptime${search({ days })}`, { signal: abort });
}

/**
 * @param {string} uuid @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<import("../types").Event>>}
 */
export function eventsOf(uuid, cursor, abort) {
  return call("GET", `${clientPath(uuid)}/events${search({ limit: 50, cursor })}`, { signal: abort });
}

/**
 * @param {string} uuid @param {number} length milliseconds @param {AbortSignal} [abort]
 * @returns {Promise<import("../openapi").HealthHistory>}
 */
export function healthHistoryOf(uuid, length, abort) {
  const since = new Date(serverNow() - length).toISOString();
  return call("GET", `${clientPath(uuid)}/health/history${search({ since })}`, { signal: abort });
}

/**
 * The refused messages of this display.
 * @param {string} uuid @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<import("../types").DeadLetter>>}
 */
export function deadLettersOf(uuid, cursor, abort) {
  return call("GET", `/api/dead-letters${search({ client: uuid, cursor })}`, { signal: abort });
}

/**
 * Failures acknowledged in the last 24 hours.
 * @returns {Promise<import("../types").Page<import("../types").Acknowledged>>}
 */
export function recentlyAcknowledged() {
  return call("GET", "/api/clients/service_failed/acknowledged");
}
