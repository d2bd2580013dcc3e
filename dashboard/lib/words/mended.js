/** Failures that are mended, acknowledged together. */
import { count } from "../format.js";
import { translate } from "../language.js";

export const mendedWords = {
  title: "Acknowledge what is mended",
  lead: "These displays run again, and their health reports name no failure.",
  left: (/** @type {number} */ n) =>
    `${count(n, "failure was", "failures were")} left: the display failed again, or somebody was faster.`,
};

translate("mended", { mendedWords });
