/** Service failures, people's acknowledgements, and who looks after a trouble. */
import { call } from "./call.js";
import { clientPath } from "./fleet.js";

/** @typedef {import("../types").Client} Client */

/**
 * Acknowledge one failure; 412 when the display has failed again since.
 * @param {string} uuid @param {string} failedAt
 * @returns {Promise<Client & {cleared: boolean}>} cleared: false when somebody else was first
 */
export function clearServiceFailed(uuid, failedAt) {
  return call("POST", `${clientPath(uuid)}/clear_service_failed`, { headers: { "If-Match": `"${failedAt}"` } });
}

/**
 * Acknowledge the failures that still stand as shown and are mended.
 * @param {import("../types").Failure[]} failures
 * @returns {Promise<import("../openapi").MendedFailures>}
 */
export function acknowledgeMended(failures) {
  const shown = failures.map(({ uuid, service_failed_at }) => ({ uuid, service_failed_at }));
  return call("POST", "/api/clients/service_failed/mended", { body: { failures: shown } });
}

/**
 * Look after a trouble, or no longer; 409 when somebody else does.
 * @param {string} path @param {{note?: string, instead_of?: string, service_failed_at?: string} | null} how null: no longer
 */
export const takeTrouble = (path, how) =>
  call("POST", how ? `${path}/take` : `${path}/give_back`, how ? { body: how } : {});
