/** The people who sign in. */
import { translate } from "../language.js";

export const byPassword = {
  title: "People",
  lead: "Everybody signs in with a name and a password of their own. Somebody new gets a password that works until they have set theirs.",
  failed: "The people could not be loaded.",
  add: "Add a person…",
  addTitle: "Add a person",
  addGo: "Add",
  name: "User name",
  nameHow: "Letters, digits and . _ @ + -",
  role: "Role",
  sites: "Only for these sites",
  sitesHow: "One in each line, as the displays name them. Empty: all sites.",
  you: "you",
  signedIn: "last signed in",
  never: "has never signed in",
  since: "added",
  hasUntil: "must set a password before",
  over: "The password that was handed over has expired: reset it.",
  provided: (/** @type {string} */ name) =>
    `People to whom ${name} gives a role come in by themselves, with that role.`,
  fromProvider: (/** @type {string} */ name) => `role and sites from ${name}, anew at each sign-in`,
  someProvider: "a sign-in service",
  comesBack:
    "They come back with their next sign-in while the sign-in service gives them a role. Disable them to keep them out.",
  disabled: "Disabled",
  disabledSince: "disabled",
  moreOf: (/** @type {string} */ name) => `More about ${name}`,
  ask: {
    role: {
      item: "Change role or sites…",
      title: (/** @type {string} */ name) => `Change the role of ${name}`,
      text: "Their sessions end; they sign in again with the new role.",
      go: "Change",
    },
    reset: {
      item: "Reset password…",
      title: (/** @type {string} */ name) => `Reset the password of ${name}?`,
      text: "Their current password and all their sessions end at once. You get a new password to hand over.",
      go: "Reset password",
    },
    factor: {
      item: "Reset second factor…",
      title: (/** @type {string} */ name) => `Reset the second factor of ${name}?`,
      text: "For somebody who has lost both the phone and the recovery codes. Their sessions end, and their password alone is enough until they set up a new one.",
      go: "Reset second factor",
    },
    disable: {
      item: "Disable…",
      title: (/** @type {string} */ name) => `Disable ${name}?`,
      text: "All their sessions end at once, and they cannot sign in until they are enabled again. Tokens that they issued keep working: revoke those below.",
      go: "Disable",
    },
    enable: {
      item: "Enable…",
      title: (/** @type {string} */ name) => `Enable ${name} again?`,
      text: "They sign in with the password that they had.",
      go: "Enable",
    },
    remove: {
      item: "Remove…",
      title: (/** @type {string} */ name) => `Remove ${name}?`,
      text: "Their account is gone for good; what they did stays in the audit log. Tokens that they issued keep working: revoke those below.",
      go: "Remove",
    },
  },
  handOver: {
    title: (/** @type {string} */ name) => `A password for ${name}`,
    once: "Copy it now: it is not shown again.",
    how: (/** @type {string} */ name) =>
      `Give it to ${name} in person or in another way that you trust. They set their own when they sign in.`,
    until: "It works until",
    copy: "Copy the password",
    done: "Done",
  },
};

/** With a proxy that identifies people nobody has a password or a session here. */
export const byProxy = {
  ...byPassword,
  lead: "Everybody comes through the proxy in front of this service, which knows them by their e-mail address. Add somebody and they are let in; there is no password.",
  name: "E-mail address",
  nameHow: "As the proxy knows it; capitals do not matter.",
  ask: {
    ...byPassword.ask,
    role: { ...byPassword.ask.role, text: "It takes effect with the next thing that they do." },
    disable: {
      ...byPassword.ask.disable,
      text: "They are not let in until they are enabled again. Tokens that they issued keep working: revoke those below.",
    },
    enable: { ...byPassword.ask.enable, text: "They are let in again, with the role that they had." },
  },
};

/** @param {boolean} isByProxy whether people come through a proxy that knows them */
export const peopleWords = (isByProxy) => (isByProxy ? byProxy : byPassword);

translate("people", { byPassword, byProxy });
