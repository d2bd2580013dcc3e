// Generated from shared/words/en/page/day.ftl
import { number, small } from "../format.js";
import { translate } from "../language.js";
export const dayWords = {
  week: "The last 7 days",
  hours: ({ day, parts }) => `${day}, each hour by its worst state: ${parts}`,
  halfHours: ({ parts }) => `The last 24 hours, each half hour by its worst state: ${parts}`,
  closed: "closed or not there yet",
  part: ({ n, word }) => `${number(n)} ${small(word)}`,
};
translate("day", { dayWords });
