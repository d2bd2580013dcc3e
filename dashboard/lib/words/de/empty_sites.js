/** @type {typeof import("../empty_sites.js").emptySitesWords} */
export const emptySitesWords = {
  none: (sites) => `kein Display am Standort ${new Intl.ListFormat("de", { type: "disjunction" }).format(sites)}`,
};
