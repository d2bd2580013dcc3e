/** What displays log. */
import { count, number } from "../format.js";
import { translate } from "../language.js";

export const logWords = {
  title: "Logs",
  recent: "Recent errors",
  lead: "Errors and critical messages of the whole fleet, newest first. Choose a display to see everything that it logs.",
  of: (/** @type {string} */ name) => `Logs of ${name}`,
  all: "All displays",
  open: "Open the display",
  whoTitle: "Who logs most",
  who: "Search display",
  whoNone: "No display sent a log line in this time.",
  whoMore: (/** @type {number} */ n) => `${number(n)} more: search for a name`,
  errors: (/** @type {number} */ n) => count(n, "error", "errors"),
  warnings: (/** @type {number} */ n) => count(n, "warning", "warnings"),
  lines: (/** @type {number} */ n) => count(n, "line", "lines"),
  total: (/** @type {string} */ what, /** @type {number} */ n) => `${what} from ${count(n, "display", "displays")}.`,
  live: "Live",
  liveOn: "Following: new lines appear automatically",
  livePaused: "Paused while you read further down",
  liveOff: "Not following",
  debugFor: (/** @type {number} */ n) => `Log debug for ${n} minutes`,
  debugTelling: "Telling the display…",
  debugTold: (/** @type {string} */ time) => `The display was told to log debug until ${time}.`,
  levelNow: (/** @type {string} */ word) => `Logs ${word.toLowerCase()} and above`,
  hours: (/** @type {number} */ n) => (n === 1 ? "Last hour" : n < 48 ? `Last ${n} hours` : `Last ${n / 24} days`),
  range: "Time range",
  levels: "Levels",
  level: /** @type {Record<string, string>} */ ({
    debug: "Debug",
    info: "Info",
    warning: "Warning",
    error: "Error",
    critical: "Critical",
  }),
  search: "Search in messages",
  none: "No log matches.",
  noneRecent: "No errors in this time.",
  newer: (/** @type {number} */ n) => `Show ${count(n, "newer line", "newer lines")}`,
  cut: "shortened",
  failed: "The logs could not be loaded.",
  countsFailed: "The number of lines of each display could not be loaded.",
  csv: "The newest of these lines, at most 10,000, as a table",
};

translate("logs", { logWords });
