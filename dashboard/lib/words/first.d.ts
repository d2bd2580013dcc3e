// Generated from shared/words/*/page/common, fleet, frame, problems, shops, states.ftl
export const commonWords: {
  loading: string;
  working: string;
  retry: string;
  retrying: string;
  reload: string;
  more: string;
  andMore: (facts: { n: number }) => string;
  csv: string;
  close: string;
  cancel: string;
  dismiss: string;
  copy: string;
  copied: string;
  none: string;
  never: string;
  notReported: string;
  by: (facts: { who: string }) => string;
  notLoaded: string;
  quietTimes: string;
  outOfDate: string;
};
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
export const frameWords: {
  product: string;
  nav: {
    fleet: string;
    incidents: string;
    quiet: string;
    availability: string;
    batches: string;
    logs: string;
    conversions: string;
    settings: string;
    wall: string;
  } & Record<string, string>;
  api: string;
  titled: (facts: { n: number; title: string }) => string;
  skip: string;
  zone: (facts: { zone: string }) => string;
  signOut: string;
  help: string;
  updating: string;
  paused: string;
  connecting: string;
  asOf: (facts: { time: string }) => string;
  roles: {
    viewer: string;
    operator: string;
    admin: string;
  } & Record<string, string>;
  onlyFor: (facts: { sites: string }) => string;
};
export const problemWords: {
  refused: {
    command_in_flight: string;
    not_capable: string;
    forbidden: string;
    internal_error: string;
    api_timeout: string;
  } & Record<string, string>;
  unreachable: string;
  reference: (facts: { of: string }) => string;
};
export const finderWords: {
  region: string;
  search: string;
  searchLabel: string;
  found: (facts: { more: boolean; every: boolean; n: number; all_n: number }) => string;
  without: (facts: { part: string }) => string;
  tag: (facts: { tag: string }) => string;
  incident: (facts: { id: string }) => string;
  unsteady: string;
  clear: string;
};
export const shopWords: {
  title: string;
  none: string;
  well: (facts: { n: number }) => string;
  are: (facts: { n: number; all_n: number; how: string }) => string;
  more: (facts: { n: number }) => string;
  all: (facts: { n: number }) => string;
  tags: string;
  allTags: (facts: { n: number }) => string;
};
export const statusWords: {
  running: string;
  late: string;
  stale: string;
  crashed: string;
  starting: string;
  stopped: string;
  unknown: string;
  screen_failed: string;
  limit_passed: string;
} & Record<string, string>;
export const statusMeanings: {
  running: string;
  late: string;
  stale: string;
  crashed: string;
  starting: string;
  stopped: string;
  unknown: string;
  screen_failed: string;
  limit_passed: string;
} & Record<string, string>;
export const screenWords: {
  ok: string;
  black: string;
  frozen: string;
  white: string;
  hung: string;
  error_page: string;
  no_page: string;
  wrong_page: string;
  off: string;
  disconnected: string;
  unknown: string;
} & Record<string, string>;
export const offByWords: {
  command: string;
  hours: string;
} & Record<string, string>;
export const actionWords: {
  restart_app: string;
  reboot_host: string;
  shutdown_host: string;
  screenshot: string;
  screen_on: string;
  screen_off: string;
} & Record<string, string>;
export const stepWords: {
  queued: string;
  sent: string;
  received: string;
  running: string;
  succeeded: string;
  failed: string;
  rejected: string;
  expired: string;
  timed_out: string;
  cancelled: string;
} & Record<string, string>;
