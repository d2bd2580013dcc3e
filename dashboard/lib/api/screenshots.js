/** Pictures of displays' screens. */
import { call, search } from "./call.js";
import { clientPath } from "./fleet.js";

/** @typedef {import("../openapi").Screenshot} Screenshot */

/** @param {string} uuid @param {AbortSignal} [abort] @returns {Promise<import("../openapi").ScreenshotsOfClient>} */
export function screenshotsOf(uuid, abort) {
  return call("GET", `${clientPath(uuid)}/screenshots`, { signal: abort });
}

/** @param {string[]} client up to 100 @param {AbortSignal} abort @returns {Promise<{items: Screenshot[]}>} */
export function newestScreenshots(client, abort) {
  return call("GET", `/api/screenshots${search({ client })}`, { signal: abort });
}

/** @param {number} id @param {AbortSignal} [abort] @returns {Promise<{items: Screenshot[]}>} */
export function screenshotsOfIncident(id, abort) {
  return call("GET", `/api/incidents/${id}/screenshots`, { signal: abort });
}

/** The sites whose screens nobody may see; an empty name means displays without a site. @returns {Promise<string[]>} */
export const sitesOff = async () => (await call("GET", "/api/screenshot-policy")).sites_off;

/** @param {string} site empty for displays without one @param {boolean} allowed */
export function allowScreenshots(site, allowed) {
  return call("PUT", "/api/screenshot-policy", { body: { site, allowed } });
}

/** @param {number} id */
export const screenshotUrl = (id) => `/api/screenshots/${id}`;
