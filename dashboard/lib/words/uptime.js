// Generated from shared/words/en/page/uptime.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const uptimeWords = {
  title: "Uptime",
  range: "How far back",
  now: "now",
  days: ({ n }) => n === 1 ? "24 h" : `${n} d`,
  up: ({ share, days_n }) => `Up ${share} of the last ${days_n === 1 ? "24 hours" : `${days_n} days`}.`,
  partly: ({ known, share, days_n }) => `Known for ${known}: up ${share} of that time. Nothing is known about the rest of the ${days_n === 1 ? "24 hours" : `${days_n} days`}.`,
  unknown: ({ time }) => `Nothing is known about ${time}.`,
  upWhileOpen: ({ share, days_n }) => `Up ${share} of the opening hours of the last ${days_n === 1 ? "24 hours" : `${days_n} days`}.`,
  closed: ({ time }) => `Closed for ${time}, which does not count.`,
  closedFor: ({ time }) => `Closed, ${time}`,
  nothingKnown: "Nothing is known about this time.",
  calm: "Never crashed, never silent in this time.",
  calmAsKnown: "Never crashed, never silent in the time that is known.",
  lasted: ({ time }) => `for ${time}`,
  more: ({ n }) => `and ${number(n)} ${n === 1 ? "more time" : "more times"} before that`,
  failed: "The uptime could not be loaded.",
};
translate("uptime", { uptimeWords });
