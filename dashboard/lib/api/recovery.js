/** What automatic recovery does about one display. */
import { call, search } from "./call.js";
import { clientPath } from "./fleet.js";

/** @typedef {import("../types").ClientRecovery} ClientRecovery */

/** @param {string} uuid @param {AbortSignal} [abort] @returns {Promise<ClientRecovery>} */
export function recoveryOf(uuid, abort) {
  return call("GET", `${clientPath(uuid)}/recovery`, { signal: abort });
}

/** @param {string} uuid @returns {Promise<ClientRecovery>} */
export function resumeRecovery(uuid) {
  return call("POST", `${clientPath(uuid)}/recovery/resume`);
}

/**
 * How often recovery mended a display since then.
 * @param {string} since @param {AbortSignal} abort
 * @returns {Promise<import("../openapi").Mended>}
 */
export function mendedSince(since, abort) {
  return call("GET", `/api/recovery/mended${search({ since })}`, { signal: abort });
}
