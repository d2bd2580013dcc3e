// Generated from shared/words/*/page/mended.ftl
export const mendedWords: {
  title: string;
  lead: string;
  left: (facts: { n: number }) => string;
};
