// Generated from shared/words/en/page/own_sessions.ftl
import { translate } from "../language.js";
export const ownSessionWords = {
  title: "Where you are signed in",
  thisOne: "this one",
  someBrowser: "A browser",
  browserOn: ({ browser, system }) => `${browser} on ${system}`,
  nowhere: "address unknown",
  since: "since",
  used: "last used",
  end: "End",
  endOf: ({ name, address }) => `End the session of ${name} at ${address}`,
};
translate("own_sessions", { ownSessionWords });
