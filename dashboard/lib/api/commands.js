/** Commands to one display. */
import { call, search } from "./call.js";
import { clientPath } from "./fleet.js";

/** @typedef {import("../types").Action} Action */
/** @typedef {import("../types").Command} Command */

/**
 * Request a command. The same key always returns the same command, so that a request can be repeated safely.
 * @param {string} uuid @param {Action} action @param {string} key
 * @returns {Promise<Command>}
 */
export function sendCommand(uuid, action, key) {
  const body = { action, reason: "" };
  return call("POST", `${clientPath(uuid)}/commands`, { body, headers: { "Idempotency-Key": key } });
}

/** @param {string} id @param {AbortSignal} [abort] @returns {Promise<Command>} */
export function getCommand(id, abort) {
  return call("GET", `/api/commands/${encodeURIComponent(id)}`, { signal: abort });
}

/** @param {string} id @returns {Promise<Command>} */
export function cancelCommand(id) {
  return call("POST", `/api/commands/${encodeURIComponent(id)}/cancel`);
}

/** @param {string} id @param {string} reason @returns {Promise<Command>} */
export function endCommand(id, reason) {
  return call("POST", `/api/commands/${encodeURIComponent(id)}/end`, { body: { reason } });
}

/** @param {string} uuid @param {string | null} cursor @returns {Promise<import("../types").Page<Command>>} */
export function commandsOf(uuid, cursor) {
  return call("GET", `${clientPath(uuid)}/commands${search({ limit: 25, cursor })}`);
}
