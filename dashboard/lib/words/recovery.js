/** What automatic recovery does about one display. */
import { count } from "../format.js";
import { translate } from "../language.js";

export const recoveryWords = {
  state: /** @type {Record<string, string>} */ ({
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
  }),
  mute: "Nothing is sent: the display still sends messages",
  well: "This display is well; there is nothing to recover.",
  never: "It has not sent a heartbeat yet; there is nothing to recover.",
  tried: (/** @type {number} */ restarts, /** @type {number} */ reboots) =>
    `Tried so far: ${count(restarts, "restart", "restarts")}, ${count(reboots, "reboot", "reboots")}.`,
  resume: "Resume recovery",
};

translate("recovery", { recoveryWords });
