/** One's own sessions. */
import { translate } from "../language.js";

export const ownSessionWords = {
  title: "Where you are signed in",
  thisOne: "this one",
  someBrowser: "A browser",
  browserOn: (/** @type {string} */ browser, /** @type {string} */ system) => `${browser} on ${system}`,
  nowhere: "address unknown",
  since: "since",
  used: "last used",
  end: "End",
  endOf: (/** @type {string} */ name, /** @type {string} */ address) => `End the session of ${name} at ${address}`,
};

translate("own_sessions", { ownSessionWords });
