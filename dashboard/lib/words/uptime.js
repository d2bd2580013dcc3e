/** The states of one display over time. */
import { count } from "../format.js";
import { translate } from "../language.js";

/** @param {number} days */
const span = (days) => (days === 1 ? "24 hours" : `${days} days`);

export const uptimeWords = {
  title: "Uptime",
  range: "How far back",
  now: "now",
  days: (/** @type {number} */ n) => (n === 1 ? "24 h" : `${n} d`),
  up: (/** @type {string} */ share, /** @type {number} */ days) => `Up ${share} of the last ${span(days)}.`,
  partly: (/** @type {string} */ known, /** @type {string} */ share, /** @type {number} */ days) =>
    `Known for ${known}: up ${share} of that time. Nothing is known about the rest of the ${span(days)}.`,
  unknown: (/** @type {string} */ time) => `Nothing is known about ${time}.`,
  upWhileOpen: (/** @type {string} */ share, /** @type {number} */ days) =>
    `Up ${share} of the opening hours of the last ${span(days)}.`,
  closed: (/** @type {string} */ time) => `Closed for ${time}, which does not count.`,
  closedFor: (/** @type {string} */ time) => `Closed, ${time}`,
  nothingKnown: "Nothing is known about this time.",
  calm: "Never crashed, never silent in this time.",
  calmAsKnown: "Never crashed, never silent in the time that is known.",
  lasted: (/** @type {string} */ time) => `for ${time}`,
  more: (/** @type {number} */ n) => `and ${count(n, "more time", "more times")} before that`,
  failed: "The uptime could not be loaded.",
};

translate("uptime", { uptimeWords });
