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

/** Days begin by this browser's zone unless the site has opening hours. @param {import("../availability.js").Period} period */
const asked = ({ since, until }) => ({
  since,
  until,
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/**
 * A page of a period of a site.
 * @param {string} site empty for displays without one @param {import("../availability.js").Period} period
 * @param {string | null} cursor @param {AbortSignal} abort
 * @returns {Promise<import("../openapi").SpentAtSite>}
 */
export function periodOfSite(site, period, cursor, abort) {
  const more = search({ ...asked(period), cursor }).slice(1);
  return call("GET", `/api/availability/site?site=${encodeURIComponent(site)}&${more}`, { signal: abort });
}

/**
 * A period of every site.
 * @param {import("../availability.js").Period} period @param {AbortSignal} abort
 * @returns {Promise<import("../openapi").SpentBySites>}
 */
export function periodOfSites(period, abort) {
  return call("GET", `/api/availability/sites${search(asked(period))}`, { signal: abort });
}
