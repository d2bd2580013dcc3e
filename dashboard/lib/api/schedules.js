/** Commands for later, once or weekly. */
import { call, search } from "./call.js";

/** @typedef {import("../openapi").CommandSchedule} Schedule */
/** @typedef {import("../openapi").ScheduleDetails} ScheduleDetails */

/**
 * @param {boolean} current whether they have a next time @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<Schedule>>}
 */
export function listSchedules(current, cursor, abort) {
  return call("GET", `/api/schedules${search({ current: String(current), cursor })}`, { signal: abort });
}

/** @param {string} uuid @param {AbortSignal} [abort] @returns {Promise<import("../openapi").SchedulesOfClient>} */
export function schedulesOf(uuid, abort) {
  return call("GET", `/api/clients/${encodeURIComponent(uuid)}/schedules`, { signal: abort });
}

/** @param {Record<string, unknown>} body @param {string} key @returns {Promise<ScheduleDetails>} */
export function planSchedule(body, key) {
  return call("POST", "/api/schedules", { body, headers: { "Idempotency-Key": key } });
}

/** @param {string} id @param {Record<string, unknown>} changes @returns {Promise<ScheduleDetails>} */
export function changeSchedule(id, changes) {
  return call("PATCH", `/api/schedules/${encodeURIComponent(id)}`, { body: changes });
}

/** @param {string} id */
export function cancelSchedule(id) {
  return call("DELETE", `/api/schedules/${encodeURIComponent(id)}`);
}
