// Generated from shared/words/de/page/empty_sites.ftl
export const emptySitesWords = {
  none: ({ sites }) => `kein Display am Standort ${sites}`,
};
