// Generated from shared/words/en/page/attention.ftl
import { number, small } from "../format.js";
import { translate } from "../language.js";
export const attentionWords = {
  title: "Needs attention",
  count: ({ n, told_n }) => `${number(n)} ${n === 1 ? "display" : "displays"}${told_n === 0 ? "" : `, besides the ${number(told_n)} above`}`,
  wrong: "What is wrong",
  did: "What recovery did",
  why: "Why it is not acting now",
  showAll: ({ n }) => `Show ${number(n)} more`,
  inTable: ({ n }) => `${number(n)} more: use the tiles and the table below`,
  crashed: "The player crashed",
  stale: "Silent: last heartbeat",
  staleNever: "Silent",
  mute: "Sends messages but no heartbeats: the last one",
  failed: ({ unit }) => `Service ${unit} failed`,
  screen: ({ how }) => `The screen is ${how}${how === "off" ? ", and nobody planned that," : ""} since`,
  limit: ({ passed }) => `Past its limit: ${passed}, since`,
  step: ({ action, step }) => `${action}: ${small(step)}`,
  nothingYet: "Nothing so far",
  sentLately: "A restart or reboot was sent recently",
  steps: ({ n }) => `${number(n)} ${n === 1 ? "attempt so far" : "attempts so far"}`,
  until: ({ time, left }) => `Until ${time} (${left} left).`,
  incident: ({ id }) => `Part of incident ${id}`,
  notUnwell: "Recovery does not act on this",
  heldBack: "Held back with the others, see above.",
};
translate("attention", { attentionWords });
