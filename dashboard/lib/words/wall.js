// Generated from shared/words/en/page/wall.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const wallWords = {
  bridge: "The bridge is silent: display states are unknown.",
  leave: "Back to the fleet",
  mended: ({ n }) => `${number(n)} failed ${n === 1 ? "service is" : "services are"} mended, not acknowledged.`,
};
translate("wall", { wallWords });
