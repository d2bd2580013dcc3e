// Generated from shared/words/*/page/screenshots.ftl
export const screenshotWords: {
  title: string;
  wall: string;
  take: string;
  taking: string;
  none: string;
  taken: string;
  before: string;
  beforeFailure: string;
  beforeFailures: string;
  earlier: string;
  alt: (facts: { name: string; time: string }) => string;
  show: (facts: { time: string }) => string;
  notCapable: string;
  off: (facts: { site: string }) => string;
  noSite: string;
  hide: (facts: { site: string }) => string;
  hideSure: string;
  allow: (facts: { site: string }) => string;
  cause: {
    screenshots_off: string;
    screenshot_not_wanted: string;
  } & Record<string, string>;
  failed: string;
  newPictures: string;
  came: (facts: { n: number; all_n: number }) => string;
  and: (facts: { first: string; next: string }) => string;
  progress: (facts: { words: string }) => string;
  part: {
    unable: (facts: { n: number }) => string;
    hidden: (facts: { n: number }) => string;
    away: (facts: { n: number }) => string;
    silent: (facts: { n: number }) => string;
    failed: (facts: { n: number }) => string;
    waiting: (facts: { n: number }) => string;
  } & Record<string, (facts: { n: number }) => string>;
  step: {
    unable: string;
    hidden: string;
    away: string;
    silent: string;
    failed: string;
    waiting: string;
  } & Record<string, string>;
};
