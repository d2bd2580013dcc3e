// Generated from shared/words/en/page/quiet_now.ftl
import { number, small } from "../format.js";
import { translate } from "../language.js";
export const quietNowWords = {
  how: {
    maintenance: "In maintenance",
    opening_hours: "Closed",
    hold: "Held",
    leave_out: "Left out",
    snooze: "Snoozed",
    custom: "Quiet",
  },
  until: ({ time }) => ` until ${time}`,
  by: ({ who }) => `, by ${who}`,
  cuts: ({ what }) => `It goes through a quiet time: ${what}.`,
  waiting: ({ n }) => `${number(n)} ${n === 1 ? "display is" : "displays are"} in a quiet time that holds bulk commands back: they wait for its end.`,
};
export const quietBannerWords = {
  fleet: "The whole fleet",
  text: ({ whom, word }) => `${whom}: ${small(word)}.`,
  many: ({ n }) => `${number(n)} ${n === 1 ? "shop is" : "shops are"} in maintenance.`,
  endOf: ({ whom }) => `End the maintenance of ${whom}`,
  all: "Quiet times",
};
translate("quiet_now", { quietNowWords, quietBannerWords });
