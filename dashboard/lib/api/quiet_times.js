/** Quiet times: whom to leave alone, what is quiet, and when. */
import { call, search } from "./call.js";
import { clientPath } from "./fleet.js";

/** @typedef {import("../types").QuietTime} QuietTime */

const PATH = "/api/quiet-times";

/**
 * @param {{current: boolean, client?: string, preset?: string, cursor: string | null}} wanted
 *   current: on or planned, else over or ended @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<QuietTime>>} the newest first
 */
export function listQuietTimes({ current, client, preset, cursor }, abort) {
  return call("GET", `${PATH}${search({ current: String(current), client, preset, cursor })}`, { signal: abort });
}

/** @param {number} id @returns {Promise<QuietTime>} */
export function getQuietTime(id) {
  return call("GET", `${PATH}/${id}`);
}

/**
 * Make one. The same key and body always return the same quiet time, so that a request can be repeated safely.
 * @param {Record<string, unknown>} body @param {string} key @returns {Promise<QuietTime>}
 */
export function makeQuietTime(body, key) {
  return call("POST", PATH, { body, headers: { "Idempotency-Key": key } });
}

/** The answer may be its successor, with another id. @param {number} id @param {Record<string, unknown>} changes
 * @returns {Promise<QuietTime>} */
export function changeQuietTime(id, changes) {
  return call("PATCH", `${PATH}/${id}`, { body: changes });
}

/** End it at once; it stays in the list of the past. @param {number} id */
export function endQuietTime(id) {
  return call("DELETE", `${PATH}/${id}`);
}

/** What is quiet for one display now, and why. @param {string} uuid @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").ClientQuiet>} */
export function quietTimesOf(uuid, abort) {
  return call("GET", `${clientPath(uuid)}/quiet-times`, { signal: abort });
}
