import { number } from "../format.js";
import { translate } from "../language.js";

export const tileWords = {
  late: (/** @type {number} */ n) => `${number(n)} late`,
  hint: (/** @type {string} */ word, /** @type {boolean} */ on) =>
    on ? "Show all displays again" : `Show only ${word.toLowerCase()}`,
};

export const selectionWords = {
  one: (/** @type {string} */ name) => `Select ${name}`,
  all: "Select all listed displays",
};

export const tableWords = {
  title: "Displays",
  name: "Display",
  site: "Site",
  status: "Status",
  heartbeat: "Heartbeat",
  day: "24 hours",
  pictures: "Pictures",
  version: "Version",
  ip: "IP",
  reconnects: "Reconnects",
  changed: (/** @type {number} */ n) => `${number(n)} changed`,
  resort: "Re-sort",
  nothing: "No display matches.",
  csv: "Every listed display, as a table",
  failed: "service failed",
  mended: "failure mended",
  screen: (/** @type {string} */ how) => (how === "disconnected" ? "no screen" : `screen ${how}`),
  /** @param {{limit: string, value: number}} of @returns {string} */
  passed: ({ limit, value }) => {
    const n = Math.floor(value);
    if (limit === "heat") return `${n} °C hot`;
    if (limit === "clock") return "wrong clock";
    if (limit === "voltage") return "low voltage";
    if (limit === "read_only") return "disk read-only";
    if (limit === "certificate") return value > 0 ? `certificate ends in ${n} d` : "certificate ended";
    return limit === "refused" ? "refuses orders" : `${limit} ${n} % full`;
  },
  mute: "no heartbeats",
  unsteady: "unsteady connection",
  unsteadyHow: (/** @type {number} */ losses) => `${number(losses)} losses in the last hour`,
  locked: "cooling down",
  open: (/** @type {string} */ word) => `command ${word.toLowerCase()}`,
  recent: "Recently acknowledged",
  connect: "Connect a display",
  nothingYet: "Nothing is known about the displays yet. They appear here as soon as the service answers.",
};

translate("fleet", { tileWords, selectionWords, tableWords });
