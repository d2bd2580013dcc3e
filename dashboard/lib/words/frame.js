/** The frame of every view: the bar above, its banners, the line below. */
import { translate } from "../language.js";

export const frameWords = {
  product: "Signage Fleet",
  nav: {
    fleet: "Fleet",
    incidents: "Incidents",
    quiet: "Quiet times",
    availability: "Availability",
    batches: "Bulk commands",
    logs: "Logs",
    conversions: "Presentations",
    settings: "Settings",
    wall: "Wall",
  },
  api: "API",
  titled: (/** @type {number} */ n, /** @type {string} */ title) => (n ? `(${n}) ${title}` : title),
  skip: "Skip to content",
  zone: (/** @type {string} */ zone) => `Times in ${zone}`,
  signOut: "Sign out",
  help: "Keyboard shortcuts",
  updating: "Live",
  paused: "Not updating",
  connecting: "Connecting…",
  asOf: (/** @type {string} */ time) => `as of ${time}`,
  roles: /** @type {Record<string, string>} */ ({ viewer: "viewer", operator: "operator", admin: "admin" }),
  /** @param {string[]} sites */
  onlyFor: (sites) => `for ${new Intl.ListFormat("en").format(sites)} only`,
};

translate("frame", { frameWords });
