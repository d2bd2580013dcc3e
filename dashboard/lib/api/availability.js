/** How available displays were while their shops were open. */
import { call, search } from "./call.js";

/**
 * The last 24 hours in half hours.
 * @param {string[]} client up to 100 @param {AbortSignal} abort
 * @returns {Promise<import("../openapi").LastDay>}
 */
export function lastDay(client, abort) {
  return call("GET", `/api/availability/day${search({ client })}`, { signal: abort });
}

/**
 * A page of a month of a site; days begin by this browser's zone unless the site has opening hours.
 * @param {string} site empty for displays without one @param {string} month "2026-03"
 * @param {string | null} cursor @param {AbortSignal} abort
 * @returns {Promise<import("../openapi").MonthOfSite>}
 */
export function monthOfSite(site, month, cursor, abort) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const asked = search({ month, time_zone: zone, cursor }).slice(1);
  return call("GET", `/api/availability/month?site=${encodeURIComponent(site)}&${asked}`, { signal: abort });
}
