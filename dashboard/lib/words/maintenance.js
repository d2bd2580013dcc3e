/** Maintenance windows. */
import { count } from "../format.js";

export const maintenanceWords = {
  title: "Maintenance windows",
  lead: "During a window, recovery sends nothing to its displays. People can still send commands.",
  none: "No window has been planned.",
  failed: "The maintenance windows could not be loaded.",
  plan: "Plan a window",
  go: "Plan it",
  name: "Name",
  scope: "For",
  fleet: "The whole fleet",
  some: (/** @type {number} */ n) => count(n, "display", "displays"),
  starts: "From (empty: now)",
  ends: "Until",
  weekly: (/** @type {string} */ zone) => `Every week on (times in ${zone})`,
  every: (/** @type {string} */ days) => `every ${days}`,
  reason: "Reason (optional)",
  end: "End",
  endOf: (/** @type {string} */ name) => `End the window ${name}`,
  state: /** @type {Record<string, string>} */ ({
    active: "On now",
    planned: "Planned",
    over: "Over",
    ended: "Ended",
  }),
};
