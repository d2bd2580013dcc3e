/** The panel of one display. */
import { count } from "../format.js";
import { translate } from "../language.js";

export const displayWords = {
  region: (/** @type {string} */ name) => `Display ${name}`,
  gone: "There is no display with this uuid, or it was deleted.",
  copyUuid: "Copy uuid",
  since: "since",
  uuid: "uuid",
  site: "Site",
  tags: "Tags",
  host: "Host name",
  ip: "IP address",
  version: "Player version",
  heartbeat: "Last heartbeat",
  screen: "Screen",
  hours: "Opening hours",
  keepsHours: "kept by the display",
  hoursUntold: "not yet on the display",
  presence: "Broker session",
  connection: "MQTT connection",
  reconnects: "Reconnect count",
  unsteady: (/** @type {number} */ losses) => `Unsteady connection: ${losses} losses in the last hour`,
  never: "It has never connected.",
  noHeartbeat: "It has connected, but has not sent a heartbeat yet.",
  codeEnded: (/** @type {string} */ time) => `Its code expired at ${time}.`,
  codeUntil: (/** @type {string} */ time) => `Its code works until ${time}.`,
  codeNone: "It has no code that still works.",
  newCode: "New code",
  newCodeHow: "It replaces the previous one and is not shown again.",
  remove: "Remove",
  removeSure: "Remove it for good",
  askAdmin: "An admin can create a new code for it, or remove it.",
  lastDisconnect: "Last disconnect, by its own clock",
  oddLogin: "Two devices with one login",
  sharedLogin: (/** @type {string} */ time) =>
    `They were last seen at ${time}. Each throws the other out, and either may get a command.`,
  sharedAsk: "A new code ends this: the device that uses it keeps the display, the other one loses its login.",
  sharedHow: (/** @type {string} */ time) =>
    `Give this code to the device that shall stay, before ${time}. The other one loses its login then.`,
  sharedAskAdmin: "An admin can create a new code.",
  counterWentBack: (/** @type {string} */ time) =>
    `Its counter went back at ${time}, probably by a restored image or a write filter; some of its log lines may appear twice.`,
  recovery: "Recovery",
  tabs: {
    about: "Overview",
    logs: "Logs",
    commands: "Commands",
    health: "Health",
    events: "Events",
    refused: "Refused",
  },
};

export const refusedWords = {
  title: "Refused messages",
  last: "last",
  show: "Show them",
  none: "No message of this display was refused.",
  failed: "The refused messages could not be loaded.",
  times: (/** @type {number} */ n) => count(n, "time", "times"),
};

translate("display", { displayWords, refusedWords });
