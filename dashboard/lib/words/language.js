// Generated from shared/words/en/page/language.ftl
import { translate } from "../language.js";
export const languageWords = {
  language: "Language",
  asBrowser: "As the browser",
};
translate("language", { languageWords });
