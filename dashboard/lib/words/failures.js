/** Failed services, and their acknowledgement. */
import { count, number } from "../format.js";
import { translate } from "../language.js";

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
  mended: (/** @type {number} */ n) => `${count(n, "is", "are")} mended.`,
  mendedBy: (/** @type {string | null} */ who) => (who ? `restarted by ${who}, well since` : "well since"),
  acknowledgeThese: (/** @type {number} */ n) => `Acknowledge ${n === 1 ? "it" : `these ${number(n)}`}`,
  showAll: (/** @type {number} */ n) => `Show all ${number(n)}`,
  showLess: "Show fewer",
  paused: (/** @type {string} */ time) => `as of ${time}, not updating`,
  viewer: "Only operators can acknowledge",
};

translate("failures", { failureWords });
