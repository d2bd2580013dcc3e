/** Displays that need a person: what is wrong, what recovery did, why it waits. */
import { count, number } from "../format.js";
import { translate } from "../language.js";

export const attentionWords = {
  title: "Needs attention",
  count: (/** @type {number} */ n, /** @type {number} */ told) =>
    count(n, "display", "displays") + (told ? `, besides the ${number(told)} above` : ""),
  wrong: "What is wrong",
  did: "What recovery did",
  why: "Why it is not acting now",
  showAll: (/** @type {number} */ n) => `Show ${number(n)} more`,
  inTable: (/** @type {number} */ n) => `${number(n)} more: use the tiles and the table below`,
  crashed: "The player crashed",
  stale: "Silent: last heartbeat",
  staleNever: "Silent",
  mute: "Sends messages but no heartbeats: the last one",
  failed: (/** @type {string} */ unit) => `Service ${unit} failed`,
  screen: (/** @type {string} */ how) =>
    `The screen is ${how}${how === "off" ? ", and nobody planned that," : ""} since`,
  limit: (/** @type {string} */ passed) => `Past its limit: ${passed}, since`,
  step: (/** @type {string} */ action, /** @type {string} */ step) => `${action}: ${step.toLowerCase()}`,
  nothingYet: "Nothing so far",
  sentLately: "A restart or reboot was sent recently",
  steps: (/** @type {number} */ n) => count(n, "attempt so far", "attempts so far"),
  until: (/** @type {string} */ time, /** @type {string} */ left) => `Until ${time} (${left} left).`,
  incident: (/** @type {number} */ id) => `Part of incident ${id}`,
  notUnwell: "Recovery does not act on this",
  heldBack: "Held back with the others, see above.",
};

translate("attention", { attentionWords });
