/** What each role may do. */
import { translate } from "../language.js";

/** @type {Record<string, string>} */
export const roleWords = {
  viewer: "viewer: reads",
  operator: "operator: also acts",
  admin: "admin: everything",
};

translate("roles", { roleWords });
