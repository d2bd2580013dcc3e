/** Notifications to people: channels and deliveries. */
import { call, search } from "./call.js";

/** @typedef {import("../openapi").NotificationChannel} Channel */
/** @typedef {import("../openapi").Delivery} Delivery */

const CHANNELS = "/api/notifications/channels";
/** Milliseconds: longer than the service waits for a mail server. */
const LIMIT = 60_000;

/** @param {string | null} cursor @param {AbortSignal} [abort] @returns {Promise<import("../types").Page<Channel>>} */
export function listChannels(cursor, abort) {
  return call("GET", `${CHANNELS}${search({ limit: 50, cursor })}`, { signal: abort });
}

/** @param {object} body @returns {Promise<Channel>} */
export function addChannel(body) {
  return call("POST", CHANNELS, { body, limit: LIMIT });
}

/** @param {number} id @param {object} body @returns {Promise<Channel>} */
export function changeChannel(id, body) {
  return call("PATCH", `${CHANNELS}/${id}`, { body, limit: LIMIT });
}

/** @param {number} id */
export function removeChannel(id) {
  return call("DELETE", `${CHANNELS}/${id}`);
}

/** @param {number} id @returns {Promise<import("../openapi").ChannelTest>} */
export function testChannel(id) {
  return call("POST", `${CHANNELS}/${id}/test`, { limit: LIMIT });
}

/** Test a channel that is not saved. @param {object} body @returns {Promise<import("../openapi").TrialResult>} */
export function tryChannel(body) {
  return call("POST", `${CHANNELS}/test`, { body, limit: LIMIT });
}

/**
 * @param {number} channel @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<Delivery>>}
 */
export function listDeliveries(channel, cursor, abort) {
  return call("GET", `/api/notifications/deliveries${search({ channel: String(channel), limit: 10, cursor })}`, {
    signal: abort,
  });
}
