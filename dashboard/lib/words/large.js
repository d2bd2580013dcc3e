/** What the pages say of a fleet that is too large to be listed whole. */
import { count, number } from "../format.js";
import { translate } from "../language.js";

export const largeWords = {
  unwell:
    "The table lists the displays that need help most. Choose a site or a state above, or search, to list others.",
  search: "In a fleet of this size the search looks at names, ids, sites, host names and addresses.",
  first: (/** @type {number} */ n) =>
    `${number(n)} of those that match are listed. A command for all that are listed goes only to these.`,
  more: (/** @type {number} */ n) => `List ${number(n)} more`,
  failed: "The displays could not be loaded.",
  wall: (/** @type {number} */ n) => `${count(n, "more site needs", "more sites need")} help`,
  wallWell: (/** @type {number} */ n) => `${count(n, "more site is", "more sites are")} well`,
  pick: "This fleet is large: the list has the displays that the fleet page has listed.",
};

translate("large", { largeWords });
