/** Naming, enrolling and deleting displays. */
import { call } from "./call.js";
import { clientPath } from "./fleet.js";

/**
 * @param {string} uuid @param {{name?: string, site?: string, tags?: string[], notes?: string}} changes
 * @returns {Promise<import("../openapi").WrittenClient>}
 */
export function changeClient(uuid, changes) {
  return call("PATCH", clientPath(uuid), { body: changes });
}

/**
 * Move and tag many displays.
 * @param {{clients: string[], site?: string, add_tags: string[], remove_tags: string[]}} changes
 * @returns {Promise<import("../openapi").WrittenClients>}
 */
export function changeClients(changes) {
  return call("PATCH", "/api/clients", { body: changes });
}

/** @param {string} uuid @returns {Promise<{code: string, expires_at: string}>} */
export function createEnrolment(uuid) {
  return call("POST", `${clientPath(uuid)}/enrolment`);
}

/** Its history stays, its login does not. @param {string} uuid */
export function removeClient(uuid) {
  return call("DELETE", clientPath(uuid));
}

/** The SHA-256 of the CA that signed the gateway's certificate; "" for a public one. @returns {Promise<string>} */
export async function hashOfOwnCa() {
  const answer = await fetch("/display/SHA256SUMS", { cache: "no-store" });
  const sums = answer.ok ? await answer.text() : "";
  return /^([0-9a-f]{64}) {2}ca\.pem$/m.exec(sums)?.[1] ?? "";
}
