/** The people who sign in. */
import { call, search } from "./call.js";

/** @typedef {import("../openapi").User} User */
/** @typedef {import("../openapi").HandedOver} HandedOver */

/** @param {number} id */
const userPath = (id) => `/api/users/${id}`;

/** @param {string | null} cursor @param {AbortSignal} [abort] @returns {Promise<import("../types").Page<User>>} */
export function listPeople(cursor, abort) {
  return call("GET", `/api/users${search({ limit: 50, cursor })}`, { signal: abort });
}

/**
 * @param {string} username @param {string} role @param {string[] | null} sites
 * @returns {Promise<HandedOver>} with the one-time password, this once
 */
export function addPerson(username, role, sites) {
  return call("POST", "/api/users", { body: { username, role, sites } });
}

/** @param {number} id @param {{role?: string, sites?: string[] | null, disabled?: boolean}} changes @returns {Promise<User>} */
export function changePerson(id, changes) {
  return call("PATCH", userPath(id), { body: changes });
}

/** @param {User} person @returns {Promise<HandedOver>} */
export function resetPassword({ id, username }) {
  return call("POST", `${userPath(id)}/reset-password`, { body: { username } });
}

/** @param {number} id */
export function removePerson(id) {
  return call("DELETE", userPath(id));
}

/** Remove the second factor of a person who has lost it, and end the sessions. @param {User} person @returns {Promise<User>} */
export function resetSecondFactor({ id, username }) {
  return call("POST", `${userPath(id)}/reset-second-factor`, { body: { username } });
}
