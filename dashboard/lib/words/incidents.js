/** Displays that failed together. */
import { count, number } from "../format.js";
import { translate } from "../language.js";

export const incidentWords = {
  title: "Incidents",
  lead: "Displays that failed together, with what they have in common.",
  which: "Which incidents",
  open: "Open",
  closed: "Closed",
  number: (/** @type {number} */ id) => `Incident ${id}`,
  kind: /** @type {Record<string, string>} */ ({
    site: "One site",
    subnet: "One network",
    cluster: "Several sites",
    listening: "Our own",
  }),
  ours: "we do not hear the fleet",
  are: (/** @type {number} */ unwell, /** @type {number} */ members) =>
    `${number(unwell)} of ${count(members, "display", "displays")} still unwell`,
  back: (/** @type {number} */ members) => (members === 1 ? "it is back" : `all ${number(members)} are back`),
  were: (/** @type {number} */ members) => count(members, "display", "displays"),
  lasts: (/** @type {string} */ time) => `for ${time}`,
  lasted: (/** @type {string} */ time) => `lasted ${time}`,
  merged: (/** @type {number} */ id) => `It turned out to be part of incident ${id}.`,
  inMaintenance: (/** @type {number} */ n) =>
    `${count(n, "display is", "displays are")} in a quiet time: recovery sends nothing to them.`,
  displays: "Displays",
  well: "well since",
  timeline: "What happened",
  noneOpen: "No displays are failing together.",
  noneClosed: "No incident has been closed yet.",
  maintenance: "Maintenance is planned among the ….",
  failed: "The incidents could not be loaded.",
  failedOne: "This incident could not be loaded.",
};

translate("incidents", { incidentWords });
