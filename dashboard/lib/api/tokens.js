/** Access tokens of scripts and machines. */
import { call, search } from "./call.js";

/**
 * @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<import("../types").Token>>}
 */
export function listTokens(cursor, abort) {
  return call("GET", `/api/tokens${search({ limit: 50, cursor })}`, { signal: abort });
}

/**
 * @param {{name: string, role: string, sites: string[] | null, expires_at: string | null}} wanted
 * @returns {Promise<import("../types").IssuedToken>}
 */
export function issueToken(wanted) {
  return call("POST", "/api/tokens", { body: wanted });
}

/** @param {string} id */
export function revokeToken(id) {
  return call("DELETE", `/api/tokens/${encodeURIComponent(id)}`);
}
