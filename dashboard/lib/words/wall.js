/** The page for a screen in the office. */
import { translate } from "../language.js";

export const wallWords = {
  bridge: "The bridge is silent: display states are unknown.",
  leave: "Back to the fleet",
};

translate("wall", { wallWords });
