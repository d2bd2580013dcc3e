// Generated from shared/words/en/page/incidents.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const incidentWords = {
  title: "Incidents",
  lead: "Displays that failed together, with what they have in common.",
  which: "Which incidents",
  open: "Open",
  closed: "Closed",
  number: ({ id }) => `Incident ${id}`,
  kind: {
    site: "One site",
    subnet: "One network",
    cluster: "Several sites",
    listening: "Our own",
  },
  ours: "we do not hear the fleet",
  are: ({ unwell_n, members_n }) => `${number(unwell_n)} of ${number(members_n)} ${members_n === 1 ? "display" : "displays"} still unwell`,
  back: ({ members_n }) => members_n === 1 ? "it is back" : `all ${number(members_n)} are back`,
  were: ({ members_n }) => `${number(members_n)} ${members_n === 1 ? "display" : "displays"}`,
  lasts: ({ time }) => `for ${time}`,
  lasted: ({ time }) => `lasted ${time}`,
  merged: ({ id }) => `It turned out to be part of incident ${id}.`,
  inMaintenance: ({ n }) => `${number(n)} ${n === 1 ? "display is" : "displays are"} in a quiet time: recovery sends nothing to them.`,
  before: ({ id }) => `The one before: incident ${id}`,
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
