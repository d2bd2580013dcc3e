// Generated from shared/words/en/page/events.ftl
import { translate } from "../language.js";
export const eventWords = {
  kind: {
    registered: "Registered",
    state: "State",
    service_failed: "Service failure",
    service_cleared: "Acknowledged",
    screen: "Screen",
    log: "Log",
    command: "Command",
    recovery: "Recovery",
    audit: "Change",
  },
  none: "Nothing has happened to this display yet.",
  failed: "The events could not be loaded.",
};
translate("events", { eventWords });
