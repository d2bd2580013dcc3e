// Generated from shared/words/*/page/large.ftl
export const largeWords: {
  unwell: string;
  search: string;
  first: (facts: { n: number }) => string;
  more: (facts: { n: number }) => string;
  failed: string;
  wall: (facts: { n: number }) => string;
  wallWell: (facts: { n: number }) => string;
  pick: string;
};
