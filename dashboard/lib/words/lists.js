// Generated from shared/words/en/page/lists.ftl
import { translate } from "../language.js";
export const listWords = {
  between: ", ",
  to: "–",
};
translate("lists", { listWords });
