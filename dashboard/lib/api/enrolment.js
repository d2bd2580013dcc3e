/** A display's name, its enrolment code, its end. */
import { call } from "./call.js";
import { clientPath } from "./fleet.js";

/** @param {string} uuid @param {{name?: string, site?: string}} changes */
export function changeClient(uuid, changes) {
  return call("PATCH", clientPath(uuid), { body: changes });
}

/** @param {string} uuid @returns {Promise<{code: string, expires_at: string}>} */
export function createEnrolment(uuid) {
  return call("POST", `${clientPath(uuid)}/enrolment`);
}

/** Its history stays, its login does not. @param {string} uuid */
export function removeClient(uuid) {
  return call("DELETE", clientPath(uuid));
}
