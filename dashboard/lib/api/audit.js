/** The audit log. */
import { call, search } from "./call.js";

/**
 * @param {{actor?: string, action?: string, target?: string, cursor?: string | null}} filter
 * @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<import("../types").AuditEntry>>}
 */
export function listAudit(filter, abort) {
  return call("GET", `/api/audit${search({ limit: 25, ...filter })}`, { signal: abort });
}
