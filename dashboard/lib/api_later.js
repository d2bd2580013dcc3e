/** The API's addresses that the first page does not need. How a call is made and what it throws: api.js. */
import { call, client, search } from "./api.js";
import { serverNow } from "./clock.js";

export { ApiProblem, Unreachable } from "./api.js";

/** @typedef {import("./types").Client} Client */
/** @typedef {import("./types").Command} Command */
/** @typedef {import("./types").Action} Action */
/** @typedef {import("./types").LogRow} LogRow */

// --- enrolment ---

/** @param {string} uuid @param {{name?: string, site?: string}} changes */
export function changeClient(uuid, changes) {
  return call("PATCH", client(uuid), { body: changes });
}

/** @param {string} uuid @returns {Promise<{code: string, expires_at: string}>} */
export function createEnrolment(uuid) {
  return call("POST", `${client(uuid)}/enrolment`);
}

/** Its history stays, its login does not. @param {string} uuid */
export function removeClient(uuid) {
  return call("DELETE", client(uuid));
}

// --- commands ---

/**
 * Ask for a command. The same key always answers the same command, so a lost answer can be asked for again.
 * @param {string} uuid @param {Action} action @param {string} key
 * @returns {Promise<Command>}
 */
export function sendCommand(uuid, action, key) {
  const body = { action, reason: "" };
  return call("POST", `${client(uuid)}/commands`, { body, headers: { "Idempotency-Key": key } });
}

/** @param {string} id @param {AbortSignal} [abort] @returns {Promise<Command>} */
export function getCommand(id, abort) {
  return call("GET", `/api/commands/${encodeURIComponent(id)}`, { signal: abort });
}

/** @param {string} id @returns {Promise<Command>} */
export function cancelCommand(id) {
  return call("POST", `/api/commands/${encodeURIComponent(id)}/cancel`);
}

/** @param {string} id @param {string} reason @returns {Promise<Command>} */
export function endCommand(id, reason) {
  return call("POST", `/api/commands/${encodeURIComponent(id)}/end`, { body: { reason } });
}

/** @param {string} uuid @param {string | null} cursor @returns {Promise<import("./types").Page<Command>>} */
export function commandsOf(uuid, cursor) {
  return call("GET", `${client(uuid)}/commands${search({ limit: 25, cursor })}`);
}

// --- many displays at once ---

/**
 * @param {Record<string, unknown>} body @param {string | null} key null for a dry run @param {AbortSignal} [abort]
 * @returns {Promise<import("./types").Sent>}
 */
export function sendMany(body, key, abort) {
  return call("POST", "/api/commands", { body, headers: key ? { "Idempotency-Key": key } : {}, signal: abort });
}

/** @typedef {import("./types").BatchDetails} BatchDetails */

/** @param {string} id */
const batch = (id) => `/api/command-batches/${encodeURIComponent(id)}`;

/** @param {string | null} cursor @param {AbortSignal} [abort] @returns {Promise<import("./types").Page<import("./types").Batch>>} */
export function listBatches(cursor, abort) {
  return call("GET", `/api/command-batches${search({ cursor })}`, { signal: abort });
}

/** @param {string} id @param {AbortSignal} [abort] @returns {Promise<BatchDetails>} */
export function getBatch(id, abort) {
  return call("GET", `${batch(id)}?limit=100`, { signal: abort });
}

/** @param {string} id @returns {Promise<BatchDetails>} */
export function pauseBatch(id) {
  return call("POST", `${batch(id)}/pause`);
}

/** @param {string} id @returns {Promise<BatchDetails>} */
export function resumeBatch(id) {
  return call("POST", `${batch(id)}/resume`);
}

/** @param {string} id @returns {Promise<BatchDetails>} */
export function abortBatch(id) {
  return call("POST", `${batch(id)}/abort`);
}

/** What this display sent that was put aside. @param {string} uuid @param {string | null} cursor @param {AbortSignal} [abort] @returns {Promise<import("./types").Page<import("./types").DeadLetter>>} */
export function deadLettersOf(uuid, cursor, abort) {
  return call("GET", `/api/dead-letters${search({ client: uuid, cursor })}`, { signal: abort });
}

// --- recovery, incidents, maintenance ---

/** @typedef {import("./types").ClientRecovery} ClientRecovery */

/** @param {string} uuid @param {AbortSignal} [abort] @returns {Promise<ClientRecovery>} */
export function recoveryOf(uuid, abort) {
  return call("GET", `${client(uuid)}/recovery`, { signal: abort });
}

/** @param {string} uuid @returns {Promise<ClientRecovery>} */
export function resumeRecovery(uuid) {
  return call("POST", `${client(uuid)}/recovery/resume`);
}

/** @param {string} uuid @param {string} reason @param {string | null} until @returns {Promise<ClientRecovery>} */
export function holdRecovery(uuid, reason, until) {
  return call("POST", `${client(uuid)}/recovery/hold`, { body: { reason, until } });
}

/** @param {string} uuid @param {string} reason @returns {Promise<ClientRecovery>} */
export function excludeFromRecovery(uuid, reason) {
  return call("POST", `${client(uuid)}/recovery/exclude`, { body: { reason } });
}

/** @param {string} uuid @returns {Promise<ClientRecovery>} */
export function includeInRecovery(uuid) {
  return call("POST", `${client(uuid)}/recovery/include`);
}

/**
 * @param {{open: boolean, cursor: string | null}} filter @param {AbortSignal} [abort]
 * @returns {Promise<import("./types").Page<import("./types").Incident>>}
 */
export function listIncidents(filter, abort) {
  return call("GET", `/api/incidents${search({ open: String(filter.open), cursor: filter.cursor })}`, {
    signal: abort,
  });
}

/** @param {string} id @param {AbortSignal} [abort] @returns {Promise<import("./types").IncidentDetails>} */
export function getIncident(id, abort) {
  return call("GET", `/api/incidents/${encodeURIComponent(id)}`, { signal: abort });
}

/** @param {string | null} cursor @param {AbortSignal} [abort] @returns {Promise<import("./types").Page<import("./types").MaintenanceWindow>>} */
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

// --- what happened to a display ---

/** @param {string} uuid @param {number} days how far back the segments go @param {AbortSignal} [abort] @returns {Promise<import("./types").Uptime>} */
export function uptimeOf(uuid, days, abort) {
  return call("GET", `${client(uuid)}/uptime${search({ days })}`, { signal: abort });
}

/** @param {string} uuid @param {string | null} cursor @param {AbortSignal} [abort] @returns {Promise<import("./types").Page<import("./types").Event>>} */
export function eventsOf(uuid, cursor, abort) {
  return call("GET", `${client(uuid)}/events${search({ limit: 50, cursor })}`, { signal: abort });
}

/** @param {string} uuid @param {number} length milliseconds @param {AbortSignal} [abort] @returns {Promise<import("./openapi").HealthHistory>} */
export function healthHistoryOf(uuid, length, abort) {
  const since = new Date(serverNow() - length).toISOString();
  return call("GET", `${client(uuid)}/health/history${search({ since })}`, { signal: abort });
}

// --- logs ---

/**
 * @param {string} uuid @param {{level?: string[], q?: string, since?: string | null, cursor?: string | null, limit?: number}} filter
 * @param {AbortSignal} [abort] @returns {Promise<import("./types").Page<LogRow>>}
 */
export function logsOf(uuid, filter, abort) {
  return call("GET", `/api/client-logs/${encodeURIComponent(uuid)}/logs${search(filter)}`, { signal: abort });
}

/**
 * How much each display logged, by level; with a uuid of that one only.
 * @param {number} hours @param {string | null} uuid @param {AbortSignal} [abort] @returns {Promise<import("./types").Summary>}
 */
export function logSummary(hours, uuid, abort) {
  return call("GET", `/api/client-logs/summary${search({ hours, client: uuid })}`, { signal: abort });
}

/**
 * Tell a display from which level on it logs for a time; it ends by itself.
 * @param {string} uuid @param {import("./types").Level} level @param {number} minutes @returns {Promise<{until: string}>}
 */
export function setLogLevel(uuid, level, minutes) {
  return call("POST", `${client(uuid)}/log-level`, { body: { level, minutes } });
}

/**
 * @param {{hours: number, limit: number, cursor?: string | null}} filter @param {AbortSignal} [abort]
 * @returns {Promise<import("./types").Page<LogRow>>}
 */
export function recentErrors(filter, abort) {
  return call("GET", `/api/client-logs/recent-errors${search(filter)}`, { signal: abort });
}

// --- settings, tokens, audit ---

/** @param {AbortSignal} [abort] @returns {Promise<import("./types").Settings>} */
export function settings(abort) {
  return call("GET", "/api/settings", { signal: abort });
}

/** @param {string | null} cursor @param {AbortSignal} [abort] @returns {Promise<import("./types").Page<import("./types").Token>>} */
export function listTokens(cursor, abort) {
  return call("GET", `/api/tokens${search({ limit: 50, cursor })}`, { signal: abort });
}

/** @param {{name: string, role: string, expires_at: string | null}} wanted @returns {Promise<import("./types").IssuedToken>} */
export function issueToken(wanted) {
  return call("POST", "/api/tokens", { body: wanted });
}

/** @param {string} id */
export function revokeToken(id) {
  return call("DELETE", `/api/tokens/${encodeURIComponent(id)}`);
}

/**
 * @param {{actor?: string, action?: string, target?: string, cursor?: string | null}} filter @param {AbortSignal} [abort]
 * @returns {Promise<import("./types").Page<import("./types").AuditEntry>>}
 */
export function listAudit(filter, abort) {
  return call("GET", `/api/audit${search({ limit: 25, ...filter })}`, { signal: abort });
}
