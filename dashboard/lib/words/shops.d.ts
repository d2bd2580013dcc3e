// Generated from shared/words/*/page/shops.ftl
export const finderWords: {
  region: string;
  search: string;
  searchLabel: string;
  found: (facts: { more: boolean; every: boolean; n: number; all_n: number }) => string;
  without: (facts: { part: string }) => string;
  tag: (facts: { tag: string }) => string;
  incident: (facts: { id: string }) => string;
  unsteady: string;
  clear: string;
};
export const shopWords: {
  title: string;
  none: string;
  well: (facts: { n: number }) => string;
  are: (facts: { n: number; all_n: number; how: string }) => string;
  more: (facts: { n: number }) => string;
  all: (facts: { n: number }) => string;
  tags: string;
  allTags: (facts: { n: number }) => string;
};
