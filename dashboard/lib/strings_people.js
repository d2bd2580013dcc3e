/** Every sentence about the people who may come in. Functions where a name goes in. */
const P = {
  title: "People",
  lead: "Everybody signs in with a name and a password of their own. Who is added gets a password that works until they have set theirs.",
  failed: "The people could not be loaded.",
  add: "Add a person…",
  addTitle: "Add a person",
  addGo: "Add",
  name: "User name",
  nameHow: "Letters, digits and . _ @ + -",
  role: "Role",
  you: "you",
  signedIn: "last signed in",
  never: "has never signed in",
  since: "added",
  hasUntil: "has to set a password until",
  over: "The password handed over has run out: reset it.",
  disabled: "Disabled",
  disabledSince: "disabled",
  moreOf: (/** @type {string} */ name) => `More about ${name}`,
  ask: {
    role: {
      item: "Change role…",
      title: (/** @type {string} */ name) => `Change the role of ${name}`,
      text: "Their sessions end; they sign in again with the new role.",
      go: "Change role",
    },
    reset: {
      item: "Reset password…",
      title: (/** @type {string} */ name) => `Reset the password of ${name}?`,
      text: "The present one and all their sessions end at once. You get a new one to hand over.",
      go: "Reset password",
    },
    factor: {
      item: "Reset second factor…",
      title: (/** @type {string} */ name) => `Reset the second factor of ${name}?`,
      text: "For whoever has lost the phone and the recovery codes. Their sessions end, and their password alone is enough until they set up another one.",
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
      `Hand it to ${name} in person or by a way that you trust. When they sign in they set one of their own.`,
    until: "It signs in until",
    copy: "Copy the password",
    done: "Done",
  },
};

/** What is said otherwise where a proxy knows who comes: nobody has a password or a session there. */
const BY_PROXY = {
  ...P,
  lead: "Everybody comes by the proxy in front of this service, which knows them by their e-mail address. Who is added is let in from then on; there is no password.",
  name: "E-mail address",
  nameHow: "As the proxy knows it, in whatever capitals.",
  ask: {
    ...P.ask,
    role: { ...P.ask.role, text: "It counts from the next thing that they do." },
    disable: {
      ...P.ask.disable,
      text: "They are not let in any more until they are enabled again. Tokens that they issued keep working: revoke those below.",
    },
    enable: { ...P.ask.enable, text: "They are let in again, with the role that they had." },
  },
};

/** @param {boolean} byProxy whether people come by a proxy that knows them */
export const peopleWords = (byProxy) => (byProxy ? BY_PROXY : P);
