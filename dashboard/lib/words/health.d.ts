// Generated from shared/words/*/page/health.ftl
export const healthWords: {
  none: string;
  at: string;
  cpu: string;
  limit: (facts: { value: string }) => string;
  machine: string;
  os: string;
  boot: string;
  player: string;
  interval: string;
  seconds: (facts: { n: number }) => string;
  logLevel: string;
  capabilities: string;
  all: string;
};
export const healthHistoryWords: {
  title: string;
  range: string;
  days: (facts: { n: number }) => string;
  ago: (facts: { n: number }) => string;
  now: string;
  always: (facts: { last: string }) => string;
  words: (facts: { least: string; most: string; last: string }) => string;
  spoken: (facts: { name: string; days_n: number; words: string }) => string;
  notTold: string;
  silent: (facts: { time: string }) => string;
  partly: (facts: { known: string; days_n: number }) => string;
  nothing: string;
  means: (facts: { time: string }) => string;
  failed: string;
};
