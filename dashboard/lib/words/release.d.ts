// Generated from shared/words/*/page/release.ftl
export const releaseWords: {
  title: string;
  ask: (facts: { n: number; most_n: number }) => string;
  later: string;
  go: string;
  done: string;
  hold: string;
};
