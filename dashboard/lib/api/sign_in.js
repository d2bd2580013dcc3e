/** The ways in: a password, or the sign-in service. */
import { call } from "./call.js";

/** @typedef {import("../types").Session} Session */

/**
 * @param {string} username @param {string} password @param {string} code of a second factor, or empty
 * @returns {Promise<Session>}
 */
export function signIn(username, password, code) {
  return call("POST", "/api/session", {
    body: code ? { username, password, code } : { username, password },
    asks401: false,
  });
}

/** Where to sign in at the sign-in service. @returns {Promise<import("../openapi").ProviderAddress>} */
export function beginAtProvider() {
  return call("POST", "/api/session/provider", { asks401: false });
}
