/** One's own sessions. */
export const ownSessionWords = {
  title: "Where you are signed in",
  thisOne: "this one",
  someBrowser: "A browser",
  nowhere: "address unknown",
  since: "since",
  used: "last used",
  end: "End",
  endOf: (/** @type {string} */ name, /** @type {string} */ address) => `End the session of ${name} at ${address}`,
};
