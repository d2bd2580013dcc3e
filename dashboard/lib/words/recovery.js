// Generated from shared/words/en/page/recovery.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const recoveryWords = {
  state: {
    off: "Recovery is off",
    due: "About to act",
    in_flight: "A command is on its way",
    verifying: "Waiting for proof",
    locked: "Cooling down after the last command",
    suspended: "Suspended until somebody acts",
    unreachable: "The display is not connected",
    blocked_bridge: "The bridge is silent",
    blocked_breaker: "Too many fail at once",
    held: "Left alone",
    not_recovered: "Not recovered automatically",
  },
  mute: "Nothing is sent: the display still sends messages",
  well: "This display is well; there is nothing to recover.",
  never: "It has not sent a heartbeat yet; there is nothing to recover.",
  tried: ({ restarts_n, reboots_n }) => `Tried so far: ${number(restarts_n)} ${restarts_n === 1 ? "restart" : "restarts"}, ${number(reboots_n)} ${reboots_n === 1 ? "reboot" : "reboots"}.`,
  resume: "Resume recovery",
};
translate("recovery", { recoveryWords });
