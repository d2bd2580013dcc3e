/** Units of time, short, and the age of something. */
import { translate } from "../language.js";

export const unitWords = {
  second: "s",
  minute: "min",
  hour: "h",
  day: "d",
  /** What stands between a number and its unit. */
  space: " ",
  ago: (/** @type {string} */ age) => `${age} ago`,
};

translate("units", { unitWords });
