/** The settings page: one's own account, and the service's settings and state. */
import { translate } from "../language.js";

export const settingsWords = {
  title: "Settings",
  adminOnly: "Only admins see people, access tokens and the audit log.",
  account: "Your account",
  signedInAs: (/** @type {string} */ name, /** @type {string} */ role) => `Signed in as ${name}, ${role}.`,
  changePassword: "Change password",
  passwordChanged: "Your password was changed.",
  byProvider: (/** @type {string} */ name) => `You sign in with ${name}: password and second factor are there.`,
  service: "Service",
  scheduler: "Scheduler",
  lastTick: "Last tick",
  took: (/** @type {string} */ ms) => `took ${ms} ms`,
  bridge: "Bridge",
  listening: "listening",
  silent: "silent",
  canary: "Last round trip",
  connectedSince: "Connected since",
  values: "Values in force",
  changed: (/** @type {string} */ value) => `default ${value}`,
  failed: "The state of the service could not be loaded.",
};

translate("settings", { settingsWords });
