// Generated from shared/words/*/page/quiet_now.ftl
export const quietNowWords: {
  how: {
    maintenance: string;
    opening_hours: string;
    hold: string;
    leave_out: string;
    snooze: string;
    custom: string;
  } & Record<string, string>;
  until: (facts: { time: string }) => string;
  by: (facts: { who: string }) => string;
  cuts: (facts: { what: string }) => string;
  waiting: (facts: { n: number }) => string;
};
export const quietBannerWords: {
  fleet: string;
  text: (facts: { whom: string; word: string }) => string;
  many: (facts: { n: number }) => string;
  endOf: (facts: { whom: string }) => string;
  all: string;
};
