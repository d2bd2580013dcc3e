// Generated from shared/words/en/page/empty_sites.ftl
import { translate } from "../language.js";
export const emptySitesWords = {
  none: ({ sites }) => `no display is at ${sites}`,
};
translate("empty_sites", { emptySitesWords });
