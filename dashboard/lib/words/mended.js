// Generated from shared/words/en/page/mended.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const mendedWords = {
  title: "Acknowledge what is mended",
  lead: "These displays run again, and their health reports name no failure.",
  left: ({ n }) => `${number(n)} ${n === 1 ? "failure was" : "failures were"} left: the display failed again, or somebody was faster.`,
};
translate("mended", { mendedWords });
