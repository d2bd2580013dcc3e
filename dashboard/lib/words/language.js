/** The choice of the page's language. */
import { translate } from "../language.js";

export const languageWords = {
  language: "Language",
  asBrowser: "As the browser",
};

translate("language", { languageWords });
