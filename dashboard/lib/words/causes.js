// Generated from shared/words/en/page/causes.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const causeWords = {
  title: "What is wrong",
  network: ({ subnet }) => `Network ${subnet}`,
  several: "Several sites",
  some: "Several displays",
  since: "since",
  again: ({ n }) => `${number(n)} times in 24 hours`,
  holds: "Recovery holds back: so many at once may be our own fault.",
  acts: ({ n }) => `Recovery is at work on ${number(n)} ${n === 1 ? "display" : "displays"}.`,
  off: "Automatic recovery is switched off.",
  show: ({ n }) => n === 1 ? "Show it" : `Show the ${number(n)}`,
  snooze: "Snooze the site…",
  release: "Let recovery act…",
  story: "What happened",
  unsteady: ({ n }) => `Unsteady connection: ${number(n)} ${n === 1 ? "display" : "displays"}`,
  worst: ({ name, losses_n }) => `${name} lost the broker ${number(losses_n)} times in the last hour. The likely cause is its own network.`,
  worstOf: ({ name, losses_n }) => `Each lost the broker three times or more in the last hour; ${name} did ${number(losses_n)} times. The likely cause is their own networks.`,
  shared: ({ n }) => `Two devices with one login: ${number(n)} ${n === 1 ? "display" : "displays"}`,
  sharedWhy: "Either device may get a command, so recovery leaves the display alone. A new code for one of them ends it.",
  andMore: ({ n }) => `and ${number(n)} more`,
  mended: ({ n, since }) => `Recovery mended ${number(n)} ${n === 1 ? "failure" : "failures"} since ${since}.`,
};
translate("causes", { causeWords });
