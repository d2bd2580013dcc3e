// Generated from shared/words/*/page/attention.ftl
export const attentionWords: {
  title: string;
  count: (facts: { n: number; told_n: number }) => string;
  wrong: string;
  did: string;
  why: string;
  showAll: (facts: { n: number }) => string;
  inTable: (facts: { n: number }) => string;
  crashed: string;
  stale: string;
  staleNever: string;
  mute: string;
  failed: (facts: { unit: string }) => string;
  screen: (facts: { how: string }) => string;
  limit: (facts: { passed: string }) => string;
  step: (facts: { action: string; step: string }) => string;
  nothingYet: string;
  sentLately: string;
  steps: (facts: { n: number }) => string;
  until: (facts: { time: string; left: string }) => string;
  incident: (facts: { id: number }) => string;
  notUnwell: string;
  heldBack: string;
};
