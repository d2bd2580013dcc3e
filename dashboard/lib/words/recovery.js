/** What automatic recovery does about one display. */
import { count } from "../format.js";

export const recoveryWords = {
  state: /** @type {Record<string, string>} */ ({
    off: "Recovery is off",
    due: "The next tick acts",
    in_flight: "A command is on its way",
    verifying: "Waiting to see whether it helped",
    locked: "Locked after the last command",
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
  heldBy: (/** @type {string} */ who, /** @type {string} */ why) => `Left alone by ${who}: ${why}`,
  until: "until",
  excludedBy: (/** @type {string} */ who, /** @type {string} */ why, /** @type {string | null} */ site) =>
    `${site ? `The site ${site} is` : "This display is"} excluded by ${who}: ${why}`,
  resume: "Resume recovery",
  hold: "Leave it alone…",
  exclude: "Never recover it…",
  include: "Recover it again",
  reason: "Reason",
  howLong: "For how long",
  lengths: /** @type {[number, string][]} */ ([
    [1, "an hour"],
    [8, "8 hours"],
    [24, "a day"],
    [0, "until somebody resumes"],
  ]),
  ask: {
    hold: {
      title: "Leave this display alone?",
      text: "Recovery sends it nothing until the time is over or somebody resumes it. People can still send commands.",
      go: "Leave it alone",
    },
    exclude: {
      title: "Never recover this display?",
      text: "Recovery sends it nothing until somebody includes it again. People can still send commands.",
      go: "Exclude it",
    },
  },
};
