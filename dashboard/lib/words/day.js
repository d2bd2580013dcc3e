/** The bars of the last 24 hours and of the last week. */
import { number } from "../format.js";
import { translate } from "../language.js";

export const dayWords = {
  week: "The last 7 days",
  hours: (/** @type {string} */ day, /** @type {string[]} */ parts) =>
    `${day}, each hour by its worst state: ${parts.join(", ")}`,
  closed: "closed or not there yet",
  /** @param {string[]} parts */
  said: (parts) => `The last 24 hours, each half hour by its worst state: ${parts.join(", ")}`,
  part: (/** @type {number} */ n, /** @type {string} */ word) => `${number(n)} ${word.toLowerCase()}`,
};

translate("day", { dayWords });
