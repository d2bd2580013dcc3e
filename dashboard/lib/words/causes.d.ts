// Generated from shared/words/*/page/causes.ftl
export const causeWords: {
  title: string;
  network: (facts: { subnet: string }) => string;
  several: string;
  some: string;
  since: string;
  again: (facts: { n: number }) => string;
  holds: string;
  acts: (facts: { n: number }) => string;
  off: string;
  show: (facts: { n: number }) => string;
  snooze: string;
  release: string;
  story: string;
  unsteady: (facts: { n: number }) => string;
  worst: (facts: { name: string; losses_n: number }) => string;
  worstOf: (facts: { name: string; losses_n: number }) => string;
  shared: (facts: { n: number }) => string;
  sharedWhy: string;
  andMore: (facts: { n: number }) => string;
  mended: (facts: { n: number; since: string }) => string;
};
