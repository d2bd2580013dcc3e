// Generated from shared/words/en/page/states.ftl
import { translate } from "../language.js";
export const statusWords = {
  running: "Running",
  late: "Late",
  stale: "Stale",
  crashed: "Crashed",
  starting: "Starting",
  stopped: "Stopped",
  unknown: "Unknown",
  screen_failed: "Bad screen",
  limit_passed: "Past a limit",
};
export const statusMeanings = {
  running: "The player shows its playlist.",
  late: "A heartbeat is overdue; one missed heartbeat is no cause for alarm.",
  stale: "Silent: several heartbeats in a row are missing.",
  crashed: "The player died and its watchdog has not brought it back.",
  starting: "The player is loading.",
  stopped: "The player was stopped on purpose.",
  unknown: "Not heard from yet, its heartbeats are missing, or the display cannot tell.",
  screen_failed: "Black, frozen, disconnected, or off unplanned.",
  limit_passed: "The machine is past a limit.",
};
export const screenWords = {
  ok: "ok",
  black: "black picture",
  frozen: "frozen picture",
  off: "panel off",
  disconnected: "no panel connected",
  unknown: "not reported",
};
export const offByWords = {
  command: "off, by an operator",
  hours: "off, by its opening hours",
};
export const actionWords = {
  restart_app: "Restart player",
  reboot_host: "Reboot",
  shutdown_host: "Shut down",
  screenshot: "Screenshot",
  screen_on: "Screen on",
  screen_off: "Screen off",
};
export const stepWords = {
  queued: "Queued",
  sent: "Sent",
  received: "Received",
  running: "Running",
  succeeded: "Succeeded",
  failed: "Failed",
  rejected: "Refused by the display",
  expired: "Expired",
  timed_out: "Timed out",
  cancelled: "Cancelled",
};
translate("states", { statusWords, statusMeanings, screenWords, offByWords, actionWords, stepWords });
