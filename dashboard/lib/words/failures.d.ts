// Generated from shared/words/*/page/failures.ftl
export const failureWords: {
  region: string;
  title: (facts: { n: number }) => string;
  unit: string;
  acknowledge: string;
  acknowledgeOf: (facts: { name: string }) => string;
  sending: string;
  done: string;
  by: (facts: { who: string }) => string;
  elsewhere: string;
  again: (facts: { time: string }) => string;
  error: string;
  refused: (facts: { detail: string }) => string;
  mended: (facts: { n: number }) => string;
  wellSince: string;
  mendedBy: (facts: { who: string }) => string;
  acknowledgeThese: (facts: { n: number }) => string;
  showAll: (facts: { n: number }) => string;
  showLess: string;
  paused: (facts: { time: string }) => string;
  viewer: string;
};
