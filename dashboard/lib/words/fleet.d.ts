// Generated from shared/words/*/page/fleet.ftl
export const tileWords: {
  late: (facts: { n: number }) => string;
  hint: (facts: { on: boolean; word: string }) => string;
};
export const selectionWords: {
  one: (facts: { name: string }) => string;
  all: string;
};
export const tableWords: {
  fine: (facts: { n: number; all_n: number }) => string;
  dark: (facts: { n: number }) => string;
  others: (facts: { n: number }) => string;
  unknown: (facts: { n: number }) => string;
  title: string;
  name: string;
  site: string;
  status: string;
  heartbeat: string;
  day: string;
  pictures: string;
  version: string;
  ip: string;
  reconnects: string;
  changed: (facts: { n: number }) => string;
  resort: string;
  nothing: string;
  csv: string;
  failed: string;
  mended: string;
  screen: (facts: { how: string }) => string;
  passed: (facts: { limit: string; n: number }) => string;
  mute: string;
  unsteady: string;
  unsteadyHow: (facts: { losses_n: number }) => string;
  locked: string;
  open: (facts: { word: string }) => string;
  recent: string;
  connect: string;
  nothingYet: string;
};
