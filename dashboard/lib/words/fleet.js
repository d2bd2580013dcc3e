/** The fleet page, from its top to its bottom. */
import { count, number } from "../format.js";

export const failureWords = {
  region: "Service failed",
  title: (/** @type {number} */ n) => `Service failed on ${count(n, "display", "displays")}`,
  unit: "Unit",
  acknowledge: "Acknowledge",
  acknowledgeOf: (/** @type {string} */ name) => `Acknowledge the failure of ${name}`,
  sending: "Acknowledging…",
  done: "Acknowledged",
  by: (/** @type {string} */ who) => `Acknowledged by ${who}`,
  elsewhere: "Acknowledged by somebody else",
  again: (/** @type {string} */ time) => `Failed again at ${time}: look at it before you acknowledge it`,
  error: "The acknowledgement did not get through.",
  refused: (/** @type {string} */ detail) => `Not acknowledged: ${detail}`,
  mended: (/** @type {number} */ n) => `${number(n)} are mended.`,
  mendedBy: (/** @type {string | null} */ who) => (who ? `restarted by ${who}, well since` : "well since"),
  acknowledgeThese: (/** @type {number} */ n) => `Acknowledge these ${number(n)}`,
  showAll: (/** @type {number} */ n) => `Show all ${number(n)}`,
  showLess: "Show fewer",
  paused: (/** @type {string} */ time) => `as of ${time}, not updating`,
  viewer: "Only operators can acknowledge",
  recent: "Recently acknowledged",
};

export const tileWords = {
  late: (/** @type {number} */ n) => `${number(n)} late`,
  hint: (/** @type {string} */ word, /** @type {boolean} */ on) =>
    on ? "Show all displays again" : `Show only ${word.toLowerCase()}`,
};

export const attentionWords = {
  title: "Needs attention",
  count: (/** @type {number} */ n) => count(n, "display", "displays"),
  wrong: "What is wrong",
  did: "What recovery did",
  why: "Why it is not acting now",
  showAll: (/** @type {number} */ n) => `Show ${number(n)} more`,
  inTable: (/** @type {number} */ n) => `${number(n)} more: use the tiles and the table below`,
  crashed: "The player crashed",
  stale: "Silent: last heartbeat",
  staleNever: "Silent",
  mute: "Sends messages but no heartbeats: the last one",
  failed: (/** @type {string} */ unit) => `Service ${unit} failed`,
  screen: (/** @type {string} */ how) =>
    `The screen is ${how}${how === "off" ? ", and nobody planned that," : ""} since`,
  limit: (/** @type {string} */ passed) => `Past its limit: ${passed}, since`,
  nothingYet: "Nothing so far",
  sentLately: "A restart or reboot was sent recently",
  steps: (/** @type {number} */ n) => count(n, "attempt so far", "attempts so far"),
  until: (/** @type {string} */ time, /** @type {string} */ left) => `Until ${time} (${left} left).`,
  incident: (/** @type {number} */ id) => `Part of incident ${id}`,
  notUnwell: "Recovery does not act on this",
  heldBack: "Held back with the others, see above.",
};

/** @param {{limit: string, value: number}} passed @returns {string} */
export function passedWords({ limit, value }) {
  const n = Math.floor(value);
  if (limit === "heat") return `${n} °C hot`;
  if (limit === "clock") return "wrong clock";
  if (limit === "voltage") return "low voltage";
  if (limit === "certificate") return value > 0 ? `certificate ends in ${n} d` : "certificate ended";
  return `${limit} ${n} % full`;
}

export const selectionWords = {
  one: (/** @type {string} */ name) => `Select ${name}`,
  all: "Select all listed displays",
};

export const tableWords = {
  title: "Displays",
  caption: (/** @type {number} */ shown, /** @type {number} */ all) =>
    shown === all ? count(all, "display", "displays") : `${number(shown)} of ${count(all, "display", "displays")}`,
  name: "Display",
  site: "Site",
  status: "Status",
  heartbeat: "Heartbeat",
  version: "Version",
  ip: "IP",
  reconnects: "Reconnects",
  changed: (/** @type {number} */ n) => `${number(n)} changed`,
  resort: "Re-sort",
  nothing: "No display matches.",
  csv: "Every listed display, as a table",
  failed: "service failed",
  screen: (/** @type {string} */ how) => (how === "disconnected" ? "no screen" : `screen ${how}`),
  mute: "no heartbeats",
  unsteady: "unsteady connection",
  unsteadyHow: (/** @type {number} */ losses) => `${number(losses)} losses in the last hour`,
  locked: "cooling down",
  open: (/** @type {string} */ word) => `command ${word}`,
  connect: "Connect a display",
  nothingYet: "Nothing is known about the displays yet. They appear here as soon as the service answers.",
};
