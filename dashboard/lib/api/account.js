/** One's own password, sessions and second factor. */
import { call } from "./call.js";

/** @param {string} current @param {string} fresh */
export function changePassword(current, fresh) {
  const body = { current_password: current, new_password: fresh };
  return call("POST", "/api/users/me/password", { body, asks401: false });
}

/** @returns {Promise<{items: import("../openapi").OwnSession[]}>} */
export function ownSessions() {
  return call("GET", "/api/users/me/sessions");
}

/** @param {number} id */
export function endOwnSession(id) {
  return call("DELETE", `/api/users/me/sessions/${id}`);
}

const FACTOR = "/api/users/me/second-factor";

/** @returns {Promise<import("../openapi").SecondFactor>} */
export function secondFactor() {
  return call("GET", FACTOR);
}

/** @param {string} password @returns {Promise<import("../openapi").Secret>} */
export function beginSecondFactor(password) {
  return call("POST", FACTOR, { body: { current_password: password }, asks401: false });
}

/** @param {string} code @returns {Promise<{recovery_codes: string[]}>} this once */
export function confirmSecondFactor(code) {
  return call("POST", `${FACTOR}/confirm`, { body: { code }, asks401: false });
}

/** @param {string} password @param {string} code */
export function removeSecondFactor(password, code) {
  return call("POST", `${FACTOR}/remove`, { body: { current_password: password, code }, asks401: false });
}
