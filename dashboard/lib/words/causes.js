/** What is wrong, a cause at a time. */
import { count, number } from "../format.js";
import { translate } from "../language.js";

export const causeWords = {
  title: "What is wrong",
  network: (/** @type {string} */ subnet) => `Network ${subnet}`,
  several: "Several sites",
  some: "Several displays",
  since: "since",
  holds: "Recovery holds back: so many at once may be our own fault.",
  acts: (/** @type {number} */ n) => `Recovery is at work on ${count(n, "display", "displays")}.`,
  off: "Automatic recovery is switched off.",
  show: (/** @type {number} */ n) => (n === 1 ? "Show it" : `Show the ${number(n)}`),
  snooze: "Snooze the site…",
  release: "Release",
  story: "What happened",
  unsteady: (/** @type {number} */ n) => `Unsteady connection: ${count(n, "display", "displays")}`,
  worst: (/** @type {string} */ name, /** @type {number} */ losses) =>
    `${name} lost the broker ${number(losses)} times in the last hour. The likely cause is its own network.`,
  worstOf: (/** @type {string} */ name, /** @type {number} */ losses) =>
    `Each lost the broker three times or more in the last hour; ${name} did ${number(losses)} times. The likely cause is their own networks.`,
  shared: (/** @type {number} */ n) => `Two devices with one login: ${count(n, "display", "displays")}`,
  sharedWhy:
    "Either device may get a command, so recovery leaves the display alone. A new code for one of them ends it.",
  andMore: (/** @type {number} */ n) => `and ${number(n)} more`,
  mended: (/** @type {number} */ n, /** @type {string} */ since) =>
    `Recovery mended ${count(n, "failure", "failures")} since ${since}.`,
};

translate("causes", { causeWords });
