// Generated from shared/words/en/page/acknowledged.ftl
import { translate } from "../language.js";
export const acknowledgedWords = {
  none: "Nothing was acknowledged in the last 24 hours.",
  failed: "The acknowledged failures could not be loaded.",
};
translate("acknowledged", { acknowledgedWords });
