/** Settings and state of the service. */
import { call } from "./call.js";

/** @param {AbortSignal} [abort] @returns {Promise<import("../types").Settings>} */
export function settings(abort) {
  return call("GET", "/api/settings", { signal: abort });
}
