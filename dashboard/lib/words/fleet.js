// Generated from shared/words/en/page/fleet.ftl
import { number, small } from "../format.js";
import { translate } from "../language.js";
export const tileWords = {
  late: ({ n }) => `${number(n)} late`,
  hint: ({ on, word }) => on ? "Show all displays again" : `Show only ${small(word)}`,
};
export const selectionWords = {
  one: ({ name }) => `Select ${name}`,
  all: "Select all listed displays",
};
export const tableWords = {
  fine: ({ n, all_n }) => `${number(n)} of ${number(all_n)} ${all_n === 1 ? "screen is" : "screens are"} fine`,
  dark: ({ n }) => `${number(n)} ${n === 1 ? "site" : "sites"} dark`,
  others: ({ n }) => `${number(n)} ${n === 1 ? "display needs" : "displays need"} help`,
  unknown: ({ n }) => `${number(n)} unknown`,
  title: "Displays",
  name: "Display",
  site: "Site",
  status: "Status",
  heartbeat: "Heartbeat",
  day: "24 hours",
  pictures: "Pictures",
  version: "Version",
  ip: "IP",
  reconnects: "Reconnects",
  changed: ({ n }) => `${number(n)} changed`,
  resort: "Re-sort",
  nothing: "No display matches.",
  csv: "Every listed display, as a table",
  failed: "service failed",
  mended: "failure mended",
  screen: ({ how }) => how === "disconnected" ? "no screen" : `screen ${how}`,
  passed: ({ limit, n }) => limit === "heat" ? `${n} °C hot` : limit === "clock" ? "wrong clock" : limit === "voltage" ? "low voltage" : limit === "read_only" ? "disk read-only" : limit === "refused" ? "refuses orders" : limit === "certificate" ? `certificate ends in ${n} d` : limit === "ended" ? "certificate ended" : `${limit} ${n} % full`,
  mute: "no heartbeats",
  unsteady: "unsteady connection",
  unsteadyHow: ({ losses_n }) => `${number(losses_n)} losses in the last hour`,
  locked: "cooling down",
  open: ({ word }) => `command ${small(word)}`,
  recent: "Recently acknowledged",
  connect: "Connect a display",
  nothingYet: "Nothing is known about the displays yet. They appear here as soon as the service answers.",
};
translate("fleet", { tileWords, selectionWords, tableWords });
