/** Maintenance windows. */
import { call, search } from "./call.js";

/**
 * @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<import("../types").MaintenanceWindow>>}
 */
export function listMaintenance(cursor, abort) {
  return call("GET", `/api/maintenance-windows${search({ cursor })}`, { signal: abort });
}

/** @param {Record<string, unknown>} window */
export function planMaintenance(window) {
  return call("POST", "/api/maintenance-windows", { body: window });
}

/** @param {number} id */
export function endMaintenance(id) {
  return call("DELETE", `/api/maintenance-windows/${id}`);
}
