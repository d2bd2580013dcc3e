// Generated from shared/words/en/page/shops.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const finderWords = {
  region: "Find displays",
  search: "Name, site, tag, status, unit…",
  searchLabel: "Search displays",
  found: ({ more, every, n, all_n }) => `${more ? "at least " : ""}${every ? "" : `${number(n)} of `}${number(all_n)} ${all_n === 1 ? "display" : "displays"}`,
  without: ({ part }) => `Remove the filter ${part}`,
  tag: ({ tag }) => `Tag ${tag}`,
  incident: ({ id }) => `Incident ${id}`,
  unsteady: "Unsteady connection",
  clear: "Clear filters",
};
export const shopWords = {
  title: "Sites",
  none: "No site",
  well: ({ n }) => n === 1 ? "well" : `all ${number(n)} well`,
  are: ({ n, all_n, how }) => `${number(n)} of ${number(all_n)} ${how === "stale" ? "silent" : how === "crashed" ? "crashed" : how === "bad" ? "unwell" : `${how}`}`,
  more: ({ n }) => `+${number(n)}`,
  all: ({ n }) => `Show all ${number(n)} sites`,
  tags: "Tags",
  allTags: ({ n }) => `Show all ${number(n)} tags`,
};
translate("shops", { finderWords, shopWords });
