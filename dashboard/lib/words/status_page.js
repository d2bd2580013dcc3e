// Generated from shared/words/en/page/status_page.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const statusPageWords = {
  title: "Displays",
  invalid: "This link is not valid.",
  allRun: "All displays run.",
  allOpenRun: "All displays that are meant to be on run.",
  allOff: "All displays are meant to be off now.",
  someDoNot: ({ n }) => `${number(n)} ${n === 1 ? "display does" : "displays do"} not run.`,
  someUnknown: ({ n }) => `The state of ${number(n)} ${n === 1 ? "display" : "displays"} is not known.`,
  noneKnown: "The state of the displays is not known now.",
  none: "This site has no displays.",
  more: "The site has more displays than are listed here.",
  asOf: ({ at }) => `As of ${at}. This page is refreshed every minute.`,
  notRefreshed: "The page could not be refreshed; it tries again by itself.",
  noName: "Display without a name",
  states: {
    running: "running",
    not_running: "not running",
    off: "meant to be off",
    unknown: "unknown",
  },
  since: ({ at }) => `since ${at}`,
  wholeWeek: "for a week or longer",
  incident: ({ at }) => `Several displays failed together: ${at}.`,
  week: "The last 7 days, a bar for each hour by its worst state:",
  up: ({ share }) => `${share} available in the last 7 days`,
  upKnown: ({ time, share }) => `known for ${time}: ${share} of that available`,
  bar: ({ parts }) => `The last 7 days, each hour by its worst state: ${parts}`,
  part: ({ n, state }) => `${n} ${state}`,
  closed: "off or not there yet",
};
translate("status_page", { statusPageWords });
