/** The bar of the last 24 hours. */
import { number } from "../format.js";
import { translate } from "../language.js";

export const dayWords = {
  closed: "closed",
  /** @param {string[]} parts */
  said: (parts) => `The last 24 hours, each half hour by its worst state: ${parts.join(", ")}`,
  part: (/** @type {number} */ n, /** @type {string} */ word) => `${number(n)} ${word.toLowerCase()}`,
};

translate("day", { dayWords });
