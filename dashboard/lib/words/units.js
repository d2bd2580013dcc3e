// Generated from shared/words/en/page/units.ftl
import { translate } from "../language.js";
export const unitWords = {
  second: "s",
  minute: "min",
  hour: "h",
  day: "d",
  space: " ",
  ago: ({ age }) => `${age} ago`,
};
translate("units", { unitWords });
