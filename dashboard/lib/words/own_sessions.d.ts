// Generated from shared/words/*/page/own_sessions.ftl
export const ownSessionWords: {
  title: string;
  thisOne: string;
  someBrowser: string;
  browserOn: (facts: { browser: string; system: string }) => string;
  nowhere: string;
  since: string;
  used: string;
  end: string;
  endOf: (facts: { name: string; address: string }) => string;
};
