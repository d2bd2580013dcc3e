/** Links to the public status pages of sites. */
import { call, search } from "./call.js";

/**
 * @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<import("../openapi").StatusLink>>}
 */
export function listStatusLinks(cursor, abort) {
  return call("GET", `/api/status-links${search({ limit: 50, cursor })}`, { signal: abort });
}

/** @param {{name: string, site: string}} wanted @returns {Promise<import("../openapi").MadeStatusLink>} */
export function makeStatusLink(wanted) {
  return call("POST", "/api/status-links", { body: wanted });
}

/** @param {number} id */
export function endStatusLink(id) {
  return call("DELETE", `/api/status-links/${id}`);
}
