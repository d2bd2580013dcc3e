/** The API's addresses about the people who sign in. How a call is made and what it throws: api.js. */
import { call, search } from "./api.js";

/** @typedef {import("./openapi").User} User */
/** @typedef {import("./openapi").HandedOver} HandedOver */

/** @param {number} id */
const user = (id) => `/api/users/${id}`;

/** @param {string | null} cursor @param {AbortSignal} [abort] @returns {Promise<import("./types").Page<User>>} */
export function listPeople(cursor, abort) {
  return call("GET", `/api/users${search({ limit: 50, cursor })}`, { signal: abort });
}

/** @param {string} username @param {string} role @returns {Promise<HandedOver>} with the one-time password, this once */
export function addPerson(username, role) {
  return call("POST", "/api/users", { body: { username, role } });
}

/** @param {number} id @param {{role?: string, disabled?: boolean}} changes @returns {Promise<User>} */
export function changePerson(id, changes) {
  return call("PATCH", user(id), { body: changes });
}

/** @param {User} person @returns {Promise<HandedOver>} */
export function resetPassword({ id, username }) {
  return call("POST", `${user(id)}/reset-password`, { body: { username } });
}

/** @param {number} id */
export function removePerson(id) {
  return call("DELETE", user(id));
}

/** For whoever has lost it; all their sessions end. @param {User} person @returns {Promise<User>} */
export function resetSecondFactor({ id, username }) {
  return call("POST", `${user(id)}/reset-second-factor`, { body: { username } });
}

// --- one's own ---

/** @returns {Promise<{items: import("./openapi").OwnSession[]}>} */
export function ownSessions() {
  return call("GET", "/api/users/me/sessions");
}

/** @param {number} id */
export function endOwnSession(id) {
  return call("DELETE", `/api/users/me/sessions/${id}`);
}

const FACTOR = "/api/users/me/second-factor";

/** @returns {Promise<import("./openapi").SecondFactor>} */
export function secondFactor() {
  return call("GET", FACTOR);
}

/** @param {string} password @returns {Promise<import("./openapi").Secret>} */
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
