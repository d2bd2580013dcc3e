/** The top of the fleet page: search and filters, causes, shops. */
import { count, number } from "../format.js";
import { translate } from "../language.js";

/** @type {Record<string, string>} */
const DID = { stale: "silent", crashed: "crashed", bad: "unwell" };

export const finderWords = {
  region: "Find displays",
  search: "Name, site, tag, status, unit…",
  searchLabel: "Search displays",
  found: (/** @type {number} */ n, /** @type {number} */ all, /** @type {boolean} */ more) =>
    `${more ? "at least " : ""}${n === all ? "" : `${number(n)} of `}${count(all, "display", "displays")}`,
  without: (/** @type {string} */ part) => `Remove the filter ${part}`,
  tag: (/** @type {string} */ tag) => `Tag ${tag}`,
  incident: (/** @type {string} */ id) => `Incident ${id}`,
  unsteady: "Unsteady connection",
  clear: "Clear filters",
};

export const shopWords = {
  title: "Sites",
  none: "No site",
  well: (/** @type {number} */ n) => (n === 1 ? "well" : `all ${number(n)} well`),
  are: (/** @type {string} */ how, /** @type {number} */ n, /** @type {number} */ all) =>
    `${number(n)} of ${number(all)} ${DID[how] ?? how}`,
  more: (/** @type {number} */ n) => `+${number(n)}`,
  all: (/** @type {number} */ n) => `Show all ${number(n)} sites`,
  tags: "Tags",
  allTags: (/** @type {number} */ n) => `Show all ${number(n)} tags`,
};

translate("shops", { finderWords, shopWords });
