// Generated from shared/words/*/page/uptime.ftl
export const uptimeWords: {
  title: string;
  range: string;
  now: string;
  days: (facts: { n: number }) => string;
  up: (facts: { share: string; days_n: number }) => string;
  partly: (facts: { known: string; share: string; days_n: number }) => string;
  unknown: (facts: { time: string }) => string;
  upWhileOpen: (facts: { share: string; days_n: number }) => string;
  closed: (facts: { time: string }) => string;
  closedFor: (facts: { time: string }) => string;
  nothingKnown: string;
  calm: string;
  calmAsKnown: string;
  lasted: (facts: { time: string }) => string;
  more: (facts: { n: number }) => string;
  failed: string;
};
