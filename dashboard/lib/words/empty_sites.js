/** What names a site at which no display is. */
import { translate } from "../language.js";

export const emptySitesWords = {
  /** @param {string[]} sites */
  none: (sites) => `no display is at ${new Intl.ListFormat("en", { type: "disjunction" }).format(sites)}`,
};

translate("empty_sites", { emptySitesWords });
