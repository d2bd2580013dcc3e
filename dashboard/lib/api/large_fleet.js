/** The displays of a large fleet. */
import { call, search } from "./call.js";

/**
 * A page of the displays that match.
 * @param {Record<string, string | number | string[] | null | undefined>} asked @param {AbortSignal} [abort]
 * @returns {Promise<import("../types").Displays>}
 */
export function displays(asked, abort) {
  return call("GET", `/api/monitoring/displays${search(asked)}`, { signal: abort });
}
