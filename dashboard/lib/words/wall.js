/** The page for a screen in the office. */
import { count } from "../format.js";
import { translate } from "../language.js";

export const wallWords = {
  bridge: "The bridge is silent: display states are unknown.",
  mended: (/** @type {number} */ n) =>
    `${count(n, "failed service is", "failed services are")} mended, not acknowledged.`,
  leave: "Back to the fleet",
};

translate("wall", { wallWords });
