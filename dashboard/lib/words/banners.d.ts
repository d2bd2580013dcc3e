// Generated from shared/words/*/page/banners.ftl
export const bannerWords: {
  offline: (facts: { time: string }) => string;
  offlineFromTheStart: string;
  signOutFailed: string;
  bridge: (facts: { time: string }) => string;
  bridgeNever: string;
  bridgeWhy: string;
  scheduler: (facts: { time: string }) => string;
  schedulerNever: string;
  schedulerWhy: string;
  empty: (facts: { sites: string }) => string;
  emptyWhy: string;
  breaker: string;
  release: string;
};
