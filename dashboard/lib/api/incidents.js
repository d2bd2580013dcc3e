/** Displays that failed together. */
import { call, search } from "./call.js";

/**
 * @param {{open: boolean, cursor: string | null}} filter @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<import("../types").Incident>>}
 */
export function listIncidents(filter, abort) {
  return call("GET", `/api/incidents${search({ open: String(filter.open), cursor: filter.cursor })}`, {
    signal: abort,
  });
}

/** @param {string} id @param {AbortSignal} [abort] @returns {Promise<import("../types").IncidentDetails>} */
export function getIncident(id, abort) {
  return call("GET", `/api/incidents/${encodeURIComponent(id)}`, { signal: abort });
}
