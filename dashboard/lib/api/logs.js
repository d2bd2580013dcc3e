/** Logs of displays. */
import { call, search } from "./call.js";
import { clientPath } from "./fleet.js";

/** @typedef {import("../types").LogRow} LogRow */

/**
 * @param {string} uuid
 * @param {{level?: string[], q?: string, since?: string | null, cursor?: string | null, limit?: number}} filter
 * @param {AbortSignal} [abort] @returns {Promise<import("../types").Page<LogRow>>}
 */
export function logsOf(uuid, filter, abort) {
  return call("GET", `/api/client-logs/${encodeURIComponent(uuid)}/logs${search(filter)}`, { signal: abort });
}

/**
 * The number of log lines of each display (or of one uuid), by level.
 * @param {number} hours @param {string | null} uuid @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Summary>}
 */
export function logSummary(hours, uuid, abort) {
  return call("GET", `/api/client-logs/summary${search({ hours, client: uuid })}`, { signal: abort });
}

/**
 * Order a display's log level for a time; the order ends by itself.
 * @param {string} uuid @param {import("../types").Level} level @param {number} minutes
 * @returns {Promise<{until: string}>}
 */
export function setLogLevel(uuid, level, minutes) {
  return call("POST", `${clientPath(uuid)}/log-level`, { body: { level, minutes } });
}

/**
 * @param {{hours: number, limit: number, cursor?: string | null}} filter @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<LogRow>>}
 */
export function recentErrors(filter, abort) {
  return call("GET", `/api/client-logs/recent-errors${search(filter)}`, { signal: abort });
}
