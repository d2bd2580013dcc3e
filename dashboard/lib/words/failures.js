// Generated from shared/words/en/page/failures.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const failureWords = {
  region: "Service failed",
  title: ({ n }) => `Service failed on ${number(n)} ${n === 1 ? "display" : "displays"}`,
  unit: "Unit",
  acknowledge: "Acknowledge",
  acknowledgeOf: ({ name }) => `Acknowledge the failure of ${name}`,
  sending: "Acknowledging…",
  done: "Acknowledged",
  by: ({ who }) => `Acknowledged by ${who}`,
  elsewhere: "Acknowledged by somebody else",
  again: ({ time }) => `Failed again at ${time}: look at it before you acknowledge it`,
  error: "The acknowledgement did not get through.",
  refused: ({ detail }) => `Not acknowledged: ${detail}`,
  mended: ({ n }) => `${number(n)} ${n === 1 ? "service" : "services"} failed and ${n === 1 ? "works" : "work"} again.`,
  wellSince: "well since",
  mendedBy: ({ who }) => `restarted by ${who}, well since`,
  acknowledgeThese: ({ n }) => `Acknowledge ${n === 1 ? "it" : `these ${number(n)}`}`,
  showAll: ({ n }) => `Show all ${number(n)}`,
  showLess: "Show fewer",
  paused: ({ time }) => `as of ${time}, not updating`,
  viewer: "Only operators can acknowledge",
};
translate("failures", { failureWords });
