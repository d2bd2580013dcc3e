// Generated from shared/words/en/page/large.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const largeWords = {
  unwell: "The table lists the displays that need help most. Choose a site or a state above, or search, to list others.",
  search: "In a fleet of this size the search looks at names, ids, sites, host names and addresses.",
  first: ({ n }) => `${number(n)} of those that match are listed. A command for all that are listed goes only to these.`,
  more: ({ n }) => `List ${number(n)} more`,
  failed: "The displays could not be loaded.",
  wall: ({ n }) => `${number(n)} ${n === 1 ? "more site needs" : "more sites need"} help`,
  wallWell: ({ n }) => `${number(n)} ${n === 1 ? "more site is" : "more sites are"} well`,
  pick: "This fleet is large: the list has the displays that the fleet page has listed.",
};
translate("large", { largeWords });
