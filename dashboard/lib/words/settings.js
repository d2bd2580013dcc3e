// Generated from shared/words/en/page/settings.ftl
import { translate } from "../language.js";
export const settingsWords = {
  title: "Settings",
  adminOnly: "Only admins see people, access tokens and the audit log.",
  account: "Your account",
  signedInAs: ({ name, role }) => `Signed in as ${name}, ${role}.`,
  changePassword: "Change password",
  passwordChanged: "Your password was changed.",
  byProvider: ({ name }) => `You sign in with ${name}: password and second factor are there.`,
  service: "Service",
  scheduler: "Scheduler",
  lastTick: "Last tick",
  took: ({ ms }) => `took ${ms} ms`,
  bridge: "Bridge",
  listening: "listening",
  silent: "silent",
  canary: "Last round trip",
  connectedSince: "Connected since",
  values: "Values in force",
  changed: ({ value }) => `default ${value}`,
  failed: "The state of the service could not be loaded.",
};
translate("settings", { settingsWords });
