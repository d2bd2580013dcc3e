// Generated from shared/words/en/page/roles.ftl
import { translate } from "../language.js";
export const roleWords = {
  viewer: "viewer: reads",
  operator: "operator: also acts",
  admin: "admin: everything",
};
translate("roles", { roleWords });
