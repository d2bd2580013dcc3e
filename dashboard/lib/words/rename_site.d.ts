// Generated from shared/words/*/page/rename_site.ftl
export const renameWords: {
  link: (facts: { site: string }) => string;
  title: (facts: { site: string }) => string;
  how: string;
  to: string;
  go: string;
  merge: (facts: { site: string }) => string;
  atProvider: (facts: { n: number }) => string;
};
