// Generated from shared/words/*/page/settings.ftl
export const settingsWords: {
  title: string;
  adminOnly: string;
  account: string;
  signedInAs: (facts: { name: string; role: string }) => string;
  changePassword: string;
  passwordChanged: string;
  byProvider: (facts: { name: string }) => string;
  service: string;
  scheduler: string;
  lastTick: string;
  took: (facts: { ms: string }) => string;
  bridge: string;
  listening: string;
  silent: string;
  canary: string;
  connectedSince: string;
  values: string;
  changed: (facts: { value: string }) => string;
  failed: string;
};
