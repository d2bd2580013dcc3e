/** Notifications to people: channels, deliveries, snoozes. */
import { call, search } from "./call.js";

/** @typedef {import("../openapi").NotificationChannel} Channel */
/** @typedef {import("../openapi").Snooze} Snooze */
/** @typedef {import("../openapi").Delivery} Delivery */

const CHANNELS = "/api/notifications/channels";
const SNOOZES = "/api/notifications/snoozes";

/** @param {string | null} cursor @param {AbortSignal} [abort] @returns {Promise<import("../types").Page<Channel>>} */
export function listChannels(cursor, abort) {
  return call("GET", `${CHANNELS}${search({ limit: 50, cursor })}`, { signal: abort });
}

/** @param {object} body @returns {Promise<Channel>} */
export function addChannel(body) {
  return call("POST", CHANNELS, { body });
}

/** @param {number} id @param {object} body @returns {Promise<Channel>} */
export function changeChannel(id, body) {
  return call("PATCH", `${CHANNELS}/${id}`, { body });
}

/** @param {number} id */
export function removeChannel(id) {
  return call("DELETE", `${CHANNELS}/${id}`);
}

/** @param {number} id @returns {Promise<import("../openapi").ChannelTest>} */
export function testChannel(id) {
  return call("POST", `${CHANNELS}/${id}/test`);
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

/**
 * The active snoozes.
 * @param {string | null} cursor @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<Snooze>>}
 */
export function listSnoozes(cursor, abort) {
  return call("GET", `${SNOOZES}${search({ current: "true", limit: 25, cursor })}`, { signal: abort });
}

/**
 * The active snoozes of this client, its site and the fleet.
 * @param {string} client @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Page<Snooze>>}
 */
export function snoozesOf(client, abort) {
  return call("GET", `${SNOOZES}${search({ current: "true", client })}`, { signal: abort });
}

/** @param {object} body @returns {Promise<Snooze>} */
export function snooze(body) {
  return call("POST", SNOOZES, { body });
}

/** @param {number} id */
export function endSnooze(id) {
  return call("DELETE", `${SNOOZES}/${id}`);
}
