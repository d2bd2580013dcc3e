// @ts-check
/**
 * The one place that knows the API's addresses and its problem documents.
 *
 * Every call answers the parsed body or throws: `ApiProblem` when the service said no, `Unreachable`
 * when nothing came back (then nobody knows whether the request was carried out). A call that is
 * answered 401 waits until the person has signed in again and is then sent once more.
 */
import { signal } from "../vendor/signals.js";

/** @typedef {import("./types").Problem} Problem */
/** @typedef {import("./types").Client} Client */
/** @typedef {import("./types").Command} Command */
/** @typedef {import("./types").Action} Action */
/** @typedef {import("./types").Overview} Overview */
/** @typedef {import("./types").LogRow} LogRow */
/** @typedef {import("./types").Media} Media */
/** @typedef {import("./types").Conversion} Conversion */
/** @typedef {import("./types").Session} Session */

/** Time that one call may take, in milliseconds; uploads have none. */
const TIME_LIMIT = 15_000;

/** The service refused; `problem` is its document. */
export class ApiProblem extends Error {
  /** @param {Problem} problem @param {number | null} retryAfter seconds, from the Retry-After header */
  constructor(problem, retryAfter) {
    super(problem.detail || problem.title);
    this.problem = problem;
    this.status = problem.status;
    this.code = problem.code;
    this.retryAfter = problem.retry_after_seconds ?? retryAfter;
  }
}

/** No answer: the network, the gateway, or a time-out. */
export class Unreachable extends Error {}

/** Whether somebody has to sign in before the waiting calls can go on. */
export const signInNeeded = signal(false);

/** @type {(() => void)[]} */
const waiting = [];

/** Resolves once `signedIn` was called. */
function signInAgain() {
  signInNeeded.value = true;
  return /** @type {Promise<void>} */ (new Promise((resolve) => waiting.push(resolve)));
}

/** Somebody has signed in: the calls that were answered 401 go on. */
export function signedIn() {
  signInNeeded.value = false;
  for (const resume of waiting.splice(0)) resume();
}

/** @param {string | null} header a number of seconds */
function seconds(header) {
  const value = Number(header);
  return header && Number.isFinite(value) ? value : null;
}

/**
 * A problem document from whatever a refusing answer carried (a gateway may answer in HTML).
 * @param {number} status @param {string} text
 * @returns {Problem}
 */
function problemOf(status, text) {
  try {
    const body = JSON.parse(text);
    if (body && typeof body.code === "string") return { ...body, status };
  } catch {
    // no JSON: the code below says what is known
  }
  const title = `The service answered ${status}.`;
  return { type: "about:blank", title, status, detail: title, code: `http_${status}` };
}

/** @typedef {{body?: unknown, headers?: Record<string, string>, signal?: AbortSignal, asks401?: boolean}} Options */

/**
 * @param {string} method @param {string} path @param {Options} options
 * @returns {Promise<Response>}
 */
async function send(method, path, options) {
  const limit = AbortSignal.timeout(TIME_LIMIT);
  const headers = { Accept: "application/json", "X-Requested-With": "signage", ...options.headers };
  try {
    return await fetch(path, {
      method,
      credentials: "same-origin",
      headers: options.body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal ? AbortSignal.any([options.signal, limit]) : limit,
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Unreachable("no answer");
  }
}

/**
 * @param {string} method @param {string} path @param {Options} [options]
 * @returns {Promise<any>}
 */
async function call(method, path, options = {}) {
  const response = await send(method, path, options);
  if (response.status === 401 && options.asks401 !== false) {
    await signInAgain();
    return call(method, path, { ...options, asks401: true });
  }
  const text = await response.text().catch(() => {
    throw new Unreachable("the answer was cut");
  });
  if (!response.ok) throw new ApiProblem(problemOf(response.status, text), seconds(response.headers.get("Retry-After")));
  return text ? JSON.parse(text) : null;
}

/**
 * A query from values; an empty one is left out, a list becomes the parameter repeated.
 * @param {Record<string, string | number | string[] | null | undefined>} values
 */
function search(values) {
  const pairs = Object.entries(values).flatMap(([key, value]) => [value ?? ""].flat().map((one) => [key, String(one)]));
  const text = new URLSearchParams(pairs.filter(([, value]) => value !== "")).toString();
  return text && `?${text}`;
}

/** @param {string} uuid */
const client = (uuid) => `/api/clients/${encodeURIComponent(uuid)}`;

// --- who is here ---

/** @returns {Promise<Session | null>} null when nobody is signed in */
export async function whoIsHere() {
  try {
    return await call("GET", "/api/session", { asks401: false });
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) return null;
    throw error;
  }
}

/** @param {string} username @param {string} password @returns {Promise<Session>} */
export function signIn(username, password) {
  return call("POST", "/api/session", { body: { username, password }, asks401: false });
}

/** @param {string} current @param {string} fresh */
export function changePassword(current, fresh) {
  const body = { current_password: current, new_password: fresh };
  return call("POST", "/api/users/me/password", { body, asks401: false });
}

export function signOut() {
  return call("DELETE", "/api/session", { asks401: false });
}

// --- the fleet ---

/**
 * The whole fleet, or what changed since a cursor.
 * @param {{since?: string | null, heartbeats?: boolean}} what @param {AbortSignal} [abort]
 * @returns {Promise<Overview>}
 */
export function overview({ since, heartbeats }, abort) {
  const path = `/api/monitoring/overview${search({ format: "columns", since, hb: heartbeats ? 1 : null })}`;
  return call("GET", path, { signal: abort });
}

/** @param {string} uuid @param {AbortSignal} [abort] @returns {Promise<Client>} */
export function getClient(uuid, abort) {
  return call("GET", client(uuid), { signal: abort });
}

/** @returns {Promise<import("./types").Page<import("./types").Acknowledged>>} failures acknowledged in the last 24 hours */
export function recentlyAcknowledged() {
  return call("GET", "/api/clients/service_failed/acknowledged");
}

/**
 * Acknowledge one failure, and only that one: 412 when the display has failed again since.
 * @param {string} uuid @param {string} failedAt
 * @returns {Promise<Client & {cleared: boolean}>} cleared: false when somebody else was first
 */
export function clearServiceFailed(uuid, failedAt) {
  return call("POST", `${client(uuid)}/clear_service_failed`, { headers: { "If-Match": `"${failedAt}"` } });
}

/** @param {string} uuid @param {{name?: string, site?: string}} changes */
export function changeClient(uuid, changes) {
  return call("PATCH", client(uuid), { body: changes });
}

/** @param {string} uuid @returns {Promise<{code: string, expires_at: string}>} */
export function createEnrolment(uuid) {
  return call("POST", `${client(uuid)}/enrolment`);
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

/** Every breaker that is open. */
export function releaseBreaker() {
  return call("POST", "/api/recovery/breaker/release", { body: {} });
}

/**
 * @param {{open: boolean, cursor: string | null}} filter @param {AbortSignal} [abort]
 * @returns {Promise<import("./types").Page<import("./types").Incident>>}
 */
export function listIncidents(filter, abort) {
  return call("GET", `/api/incidents${search({ open: String(filter.open), cursor: filter.cursor })}`, { signal: abort });
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

// --- media and conversions ---

/**
 * The newest media, each with its newest conversion.
 * @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("./types").Page<Media & {conversion: Conversion | null}>>}
 */
export function listMedia(cursor, abort) {
  return call("GET", `/api/event-media${search({ limit: 25, cursor })}`, { signal: abort });
}

/** @param {number} mediaId @param {string} filename @returns {Promise<Media>} */
export function renameMedia(mediaId, filename) {
  return call("PATCH", `/api/event-media/${mediaId}`, { body: { filename } });
}

/** @param {number} mediaId */
export function deleteMedia(mediaId) {
  return call("DELETE", `/api/event-media/${mediaId}`);
}

/** @param {number} mediaId @returns {Promise<Conversion>} */
export function reconvert(mediaId) {
  return call("POST", `/api/conversions/${mediaId}/reconvert`);
}

/** The picture of the first page; the conversion is named so that a new one is fetched anew. @param {number} mediaId @param {number} conversionId */
export function thumbnailUrl(mediaId, conversionId) {
  return `/api/event-media/${mediaId}/thumbnail#${conversionId}`;
}

/** @param {number} mediaId @returns {Promise<Conversion>} */
export function convertAgain(mediaId) {
  return call("POST", `/api/conversions/${mediaId}/pdf`);
}

/** @param {number} mediaId */
export function mediaContentUrl(mediaId) {
  return `/api/event-media/${mediaId}/content`;
}

/**
 * Upload one file. XMLHttpRequest, because fetch does not tell how much of a body has left.
 * @param {File} file @param {(sent: number) => void} onProgress share of the bytes, 0 to 1
 * @returns {{done: Promise<{media: Media, conversion: Conversion | null}>, cancel: () => void}}
 */
export function upload(file, onProgress) {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(new ApiProblem(problemOf(request.status, request.responseText), seconds(request.getResponseHeader("Retry-After"))));
    };
    request.onerror = () => reject(new Unreachable("no answer"));
    request.onabort = () => reject(new DOMException("cancelled", "AbortError"));
    const body = new FormData();
    body.append("file", file);
    request.open("POST", "/api/event-media");
    request.setRequestHeader("X-Requested-With", "signage");
    request.setRequestHeader("Accept", "application/json");
    request.send(body);
  });
  return { done, cancel: () => request.abort() };
}

/** Ask for a new sign-in and resolve when it happened (uploads, which are sent again from the file). */
export const waitForSignIn = signInAgain;
