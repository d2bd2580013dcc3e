// Generated from shared/words/en/page/health.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const healthWords = {
  none: "This display has not reported its health yet.",
  at: "Reported",
  cpu: "Processor",
  limit: ({ value }) => `above the usual limit of ${value}`,
  machine: "Machine",
  os: "System",
  boot: "Boot",
  player: "Player start",
  interval: "Heartbeat every",
  seconds: ({ n }) => `${number(n)} ${n === 1 ? "second" : "seconds"}`,
  logLevel: "Log level",
  capabilities: "Can do",
  all: "everything",
};
export const healthHistoryWords = {
  title: "Over time",
  range: "How far back",
  days: ({ n }) => n === 1 ? "24 h" : `${n} d`,
  ago: ({ n }) => n === 1 ? "24 h ago" : `${n} days ago`,
  now: "now",
  always: ({ last }) => `always ${last}`,
  words: ({ least, most, last }) => `lowest ${least}, highest ${most}, last ${last}`,
  spoken: ({ name, days_n, words }) => `${name} over the last ${days_n === 1 ? "24 hours" : `${days_n} days`}: ${words}.`,
  notTold: "not reported in this time",
  silent: ({ time }) => `Nothing was reported for ${time} of this time: there the lines are broken.`,
  partly: ({ known, days_n }) => `Known for ${known}. Nothing is known about the rest of the ${days_n === 1 ? "24 hours" : `${days_n} days`}: there the lines are broken.`,
  nothing: "Nothing was reported in this time. A display that is on is sampled every five minutes.",
  means: ({ time }) => `Each point is the mean of ${time}; lowest and highest are of single samples.`,
  failed: "The history could not be loaded.",
};
translate("health", { healthWords, healthHistoryWords });
