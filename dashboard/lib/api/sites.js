/** The names of sites. */
import { call } from "./call.js";

/** @param {{site: string, to: string, merge: boolean}} wanted @returns {Promise<import("../openapi").NewNameOfSite>} */
export function renameSite(wanted) {
  return call("POST", "/api/sites/rename", { body: wanted });
}
