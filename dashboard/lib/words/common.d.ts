// Generated from shared/words/*/page/common.ftl
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
