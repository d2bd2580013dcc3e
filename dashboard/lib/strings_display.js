/** Every sentence of the panel of one display: its facts and its recovery. Functions where a number or a name goes in. */
import { count } from "./strings.js";

export const D = {
  panel: {
    region: (/** @type {string} */ name) => `Display ${name}`,
    gone: "There is no display with this uuid, or it was deleted.",
    copyUuid: "Copy uuid",
    since: (/** @type {string} */ time) => `since ${time}`,
    uuid: "uuid",
    site: "Site",
    host: "Host name",
    ip: "IP address",
    version: "Player version",
    heartbeat: "Last heartbeat",
    screen: "Screen",
    presence: "Broker session",
    connection: "MQTT connection",
    reconnects: "Reconnect count",
    unsteady: (/** @type {number} */ losses) => `Unsteady connection: ${losses} losses in the last hour`,
    never: "It has never connected.",
    noHeartbeat: "It has connected, but no heartbeat of it has come yet.",
    codeEnded: (/** @type {string} */ time) => `Its code ended at ${time}.`,
    codeUntil: (/** @type {string} */ time) => `Its code can be used until ${time}.`,
    codeNone: "It has no code that it could still use.",
    newCode: "New code",
    newCodeHow: "It replaces the one before, and is shown only here and now.",
    remove: "Remove",
    removeSure: "Remove it for good",
    askAdmin: "An admin can make a new code for it, or remove it.",
    lastDisconnect: "Last disconnect, by its own clock",
    oddLogin: "Two devices with one login",
    sharedLogin: (/** @type {string} */ time) =>
      `Two devices use this login, last seen ${time}. Give one of them a new code.`,
    counterWentBack: (/** @type {string} */ time) =>
      `Its counter went back at ${time}: probably an image put back or a write filter; some of its log lines may stand twice.`,
    recovery: "Recovery",
    tabs: { logs: "Logs", commands: "Commands", health: "Health", events: "Events", refused: "Refused" },
  },

  refused: {
    title: "Refused messages",
    last: "last",
    show: "Show them",
    none: "Nothing of this display was put aside.",
    failed: "The refused messages could not be loaded.",
    times: (/** @type {number} */ n) => count(n, "time", "times"),
  },

  recovery: {
    state: /** @type {Record<string, string>} */ ({
      off: "Recovery is off",
      due: "The next tick acts",
      in_flight: "A command is on its way",
      verifying: "Waiting to see whether it helped",
      locked: "Locked after the last command",
      suspended: "Suspended until a person acts",
      unreachable: "The display cannot be reached",
      blocked_bridge: "The bridge is silent",
      blocked_breaker: "Too many are silent at once",
      held: "Left alone",
      not_recovered: "Not recovered automatically",
    }),
    mute: "Nothing is sent: the display talks",
    well: "This display is well; there is nothing to recover.",
    never: "No heartbeat of it has come yet; there is nothing to recover.",
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
    reason: "Why",
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
        text: "Recovery sends it nothing until the time is over or somebody resumes. People can still send commands.",
        go: "Leave it alone",
      },
      exclude: {
        title: "Never recover this display?",
        text: "Recovery sends it nothing until somebody includes it again. People can still send commands.",
        go: "Exclude it",
      },
    },
  },
};
