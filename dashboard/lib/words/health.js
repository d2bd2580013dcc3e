/** A display's machine, as it last reported and over time. */
import { count } from "../format.js";
import { translate } from "../language.js";

export const healthWords = {
  none: "This display has not reported its health yet.",
  at: "Reported",
  cpu: "Processor",
  limit: (/** @type {string} */ value) => `above the usual limit of ${value}`,
  machine: "Machine",
  os: "System",
  boot: "Boot",
  player: "Player start",
  interval: "Heartbeat every",
  seconds: (/** @type {number} */ n) => count(n, "second", "seconds"),
  logLevel: "Log level",
  capabilities: "Can do",
  all: "everything",
};

/** @param {number} days */
const span = (days) => (days === 1 ? "24 hours" : `${days} days`);

export const healthHistoryWords = {
  title: "Over time",
  range: "How far back",
  days: (/** @type {number} */ n) => (n === 1 ? "24 h" : `${n} d`),
  ago: (/** @type {number} */ n) => (n === 1 ? "24 h ago" : `${n} days ago`),
  now: "now",
  words: (/** @type {string} */ least, /** @type {string} */ most, /** @type {string} */ last) =>
    least === most ? `always ${last}` : `lowest ${least}, highest ${most}, last ${last}`,
  spoken: (/** @type {string} */ name, /** @type {number} */ days, /** @type {string} */ words) =>
    `${name} over the last ${span(days)}: ${words}.`,
  notTold: "not reported in this time",
  silent: (/** @type {string} */ time) => `Nothing was reported for ${time} of this time: there the lines are broken.`,
  partly: (/** @type {string} */ known, /** @type {number} */ days) =>
    `Known for ${known}. Nothing is known about the rest of the ${span(days)}: there the lines are broken.`,
  nothing: "Nothing was reported in this time. A display that is on is sampled every five minutes.",
  means: (/** @type {string} */ time) => `Each point is the mean of ${time}; lowest and highest are of single samples.`,
  failed: "The history could not be loaded.",
};

translate("health", { healthWords, healthHistoryWords });
