// Generated from shared/words/*/page/status_page.ftl
export const statusPageWords: {
  title: string;
  invalid: string;
  allRun: string;
  allOpenRun: string;
  allOff: string;
  someDoNot: (facts: { n: number }) => string;
  someUnknown: (facts: { n: number }) => string;
  noneKnown: string;
  none: string;
  more: string;
  asOf: (facts: { at: string }) => string;
  notRefreshed: string;
  noName: string;
  states: {
    running: string;
    not_running: string;
    off: string;
    unknown: string;
  } & Record<string, string>;
  since: (facts: { at: string }) => string;
  wholeWeek: string;
  incident: (facts: { at: string }) => string;
  week: string;
  up: (facts: { share: string }) => string;
  upKnown: (facts: { time: string; share: string }) => string;
  bar: (facts: { parts: string }) => string;
  part: (facts: { n: number; state: string }) => string;
  closed: string;
};
