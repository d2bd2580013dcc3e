/** @type {typeof import("../empty_sites.js").emptySitesWords} */
export const emptySitesWords = {
  none: (sites) => `拠点 ${new Intl.ListFormat("ja").format(sites)} にディスプレイはありません`,
};
