/** Commands to many displays at once. */
import { count, number } from "../format.js";
import { translate } from "../language.js";

/** @type {Record<string, string>} */
const NOT_SENT = {
  command_in_flight: "already had a command",
  locked_out: "cooling down",
  not_capable: "cannot do this",
  unknown_client: "not known",
  aborted: "cancelled",
};

/**
 * @typedef {{good: number, going: number, bad: number, waiting: number, unsent: Record<string, number>, all: number}}
 *   Progress how many of all displays; `unsent`: outcome -> how many
 */

export const batchWords = {
  region: "Selected displays",
  listed: (/** @type {number} */ n) => `None selected: for ${n === 1 ? "the listed one" : `all ${number(n)} listed`}`,
  selected: (/** @type {number} */ n) => `${count(n, "display", "displays")} selected`,
  clear: "Clear selection",
  quiet: "Quiet time…",
  later: "Later…",
  silent: "The bridge is silent: display states are unknown",
  title: (/** @type {string} */ action, /** @type {number} */ n) => `${action}: ${count(n, "display", "displays")}`,
  would: /** @type {Record<string, (n: number, until: string) => string>} */ ({
    accepted: (n) => `${number(n)} will be sent`,
    waiting: (n) => `${number(n)} will be sent in later waves`,
    command_in_flight: (n) => `${number(n)} already ${n === 1 ? "has" : "have"} a command`,
    locked_out: (n, until) => `${number(n)} cooling down until ${until}`,
    not_capable: (n) => `${number(n)} cannot do this`,
    unknown_client: (n) => `${number(n)} no longer known`,
  }),
  reason: "Reason (optional)",
  waves: "In waves: one display, then 10 %, then the rest; it stops when more than 10 % do not succeed",
  type: (/** @type {number} */ n) => `Type ${n} to continue`,
  go: (/** @type {string} */ action, /** @type {number} */ n) => `${action} ${count(n, "display", "displays")}`,
  page: "All bulk commands",
  pageTitle: "Bulk commands",
  lead: "What was sent to many displays at once, and what became of each.",
  one: "One bulk command",
  none: "No bulk command has been sent. Select displays in the table of the fleet page.",
  failed: "The bulk commands could not be loaded.",
  failedOne: "This bulk command could not be loaded.",
  progress: (/** @type {Progress} */ { good, going, bad, waiting, unsent, all }) => {
    const left = Object.entries(unsent);
    const sum = left.reduce((n, [, amount]) => n + amount, 0);
    const why = left.map(([outcome, n]) => [left.length > 1 && number(n), NOT_SENT[outcome] ?? outcome]);
    const parts = [
      `${number(good)} of ${number(all)} succeeded`,
      going && `${count(going, "is", "are")} on the way`,
      waiting && `${count(waiting, "waits", "wait")} for a later wave`,
      bad && `${number(bad)} did not succeed`,
      sum && `${count(sum, "was", "were")} not sent (${why.map((one) => one.filter(Boolean).join(" ")).join(", ")})`,
    ];
    return `${parts.filter(Boolean).join(", ")}.`;
  },
  wave: (/** @type {number} */ n) => `wave ${n}`,
  waveOf: (/** @type {number} */ n, /** @type {number} */ all) => `wave ${n} of ${all}`,
  pause: "Pause",
  resume: "Resume",
  abort: "Cancel the rest",
  state: /** @type {Record<string, string>} */ ({
    running: "Running",
    paused: "Paused",
    finished: "Finished",
    aborted: "Stopped",
    succeeded: "Succeeded",
    partial: "Partly succeeded",
    failed: "Failed",
  }),
  outcome: /** @type {Record<string, string>} */ ({
    accepted: "Accepted",
    waiting: "Waits for its wave",
    command_in_flight: "Already had a command",
    locked_out: "Cooling down",
    not_capable: "Cannot do this",
    unknown_client: "Not known",
    aborted: "Never sent",
  }),
};

translate("batches", { batchWords });
