// Generated from shared/words/*/page/batches.ftl
export const batchWords: {
  region: string;
  listed: (facts: { n: number }) => string;
  selected: (facts: { n: number }) => string;
  clear: string;
  quiet: string;
  later: string;
  silent: string;
  title: (facts: { action: string; n: number }) => string;
  would: (facts: { outcome: string; n: number; until: string }) => string;
  reason: string;
  waves: string;
  type: (facts: { n: number }) => string;
  go: (facts: { action: string; n: number }) => string;
  page: string;
  pageTitle: string;
  lead: string;
  one: string;
  none: string;
  failed: string;
  failedOne: string;
  progress: {
    good: (facts: { n: number; all_n: number }) => string;
    going: (facts: { n: number }) => string;
    waiting: (facts: { n: number }) => string;
    bad: (facts: { n: number }) => string;
    unsent: (facts: { n: number; why: string }) => string;
    whole: (facts: { parts: string }) => string;
  };
  unsentAmount: (facts: { n: number; why: string }) => string;
  unsent: {
    command_in_flight: string;
    locked_out: string;
    not_capable: string;
    unknown_client: string;
    aborted: string;
  } & Record<string, string>;
  wave: (facts: { n: number }) => string;
  waveOf: (facts: { n: number; all: number }) => string;
  pause: string;
  resume: string;
  abort: string;
  state: {
    running: string;
    paused: string;
    finished: string;
    aborted: string;
    succeeded: string;
    partial: string;
    failed: string;
  } & Record<string, string>;
  outcome: {
    accepted: string;
    waiting: string;
    command_in_flight: string;
    locked_out: string;
    not_capable: string;
    unknown_client: string;
    aborted: string;
  } & Record<string, string>;
};
