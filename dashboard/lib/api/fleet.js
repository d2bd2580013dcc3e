/** The calls of the fleet page. */
import { call, search } from "./call.js";

/** @typedef {import("../types").Client} Client */
/** @typedef {import("../types").Overview} Overview */

/** A fleet of more displays is large: the page knows the counts of its places, and asks for displays in pages. */
const MOST = 10_000;

/** The address of one client. @param {string} uuid */
export const clientPath = (uuid) => `/api/clients/${encodeURIComponent(uuid)}`;

/**
 * The whole fleet, or the changes since a cursor.
 * @param {{since?: string | null, heartbeats?: boolean}} what @param {AbortSignal} [abort]
 * @returns {Promise<Overview>}
 */
export function overview({ since, heartbeats }, abort) {
  const path = `/api/monitoring/overview${search({ format: "packed", most: MOST, since, hb: heartbeats ? 1 : null })}`;
  return call("GET", path, { signal: abort });
}

/** @param {string} uuid @param {AbortSignal} [abort] @returns {Promise<Client>} */
export function getClient(uuid, abort) {
  return call("GET", clientPath(uuid), { signal: abort });
}

/**
 * Displays that keep losing the broker.
 * @param {AbortSignal} abort
 * @returns {Promise<{items: {uuid: string, losses: number}[]}>}
 */
export function unsteadyClients(abort) {
  return call("GET", "/api/clients/unsteady", { signal: abort });
}

/** Every open breaker, or those of these sites. @param {string[] | null} [sites] */
export function releaseBreaker(sites) {
  const release = (/** @type {{site?: string}} */ body) => call("POST", "/api/recovery/breaker/release", { body });
  return sites ? Promise.all(sites.map((site) => release({ site }))) : release({});
}
