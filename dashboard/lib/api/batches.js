/** Commands to many displays at once. */
import { call, search } from "./call.js";

/** @typedef {import("../types").BatchDetails} BatchDetails */

/**
 * @param {Record<string, unknown>} body @param {string | null} key null for a dry run @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Sent>}
 */
export function sendMany(body, key, abort) {
  return call("POST", "/api/commands", { body, headers: key ? { "Idempotency-Key": key } : {}, signal: abort });
}

/** @param {string} id */
const batchPath = (id) => `/api/command-batches/${encodeURIComponent(id)}`;

/**
 * @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<import("../types").Batch>>}
 */
export function listBatches(cursor, abort) {
  return call("GET", `/api/command-batches${search({ cursor })}`, { signal: abort });
}

/** @param {string} id @param {AbortSignal} [abort] @returns {Promise<BatchDetails>} */
export function getBatch(id, abort) {
  return call("GET", `${batchPath(id)}?limit=100`, { signal: abort });
}

/** @param {string} id @returns {Promise<BatchDetails>} */
export function pauseBatch(id) {
  return call("POST", `${batchPath(id)}/pause`);
}

/** @param {string} id @returns {Promise<BatchDetails>} */
export function resumeBatch(id) {
  return call("POST", `${batchPath(id)}/resume`);
}

/** @param {string} id @returns {Promise<BatchDetails>} */
export function abortBatch(id) {
  return call("POST", `${batchPath(id)}/abort`);
}
