// Generated from shared/words/de/page/quiet_now.ftl
import { number, small } from "../../format.js";
export const quietNowWords = {
  how: {
    maintenance: "In Wartung",
    opening_hours: "Geschlossen",
    hold: "In Arbeit",
    leave_out: "Ausgenommen",
    snooze: "Ohne Meldungen",
    custom: "In Ruhe",
  },
  until: ({ time }) => ` bis ${time}`,
  by: ({ who }) => `, von ${who}`,
  cuts: ({ what }) => `Es unterbricht eine Ruhezeit: ${what}.`,
  waiting: ({ n }) => `${number(n)} ${n === 1 ? "Display ist" : "Displays sind"} in einer Ruhezeit, in der Sammelbefehle warten: Sie warten bis zu deren Ende.`,
};
export const quietBannerWords = {
  fleet: "Die ganze Flotte",
  text: ({ whom, word }) => `${whom}: ${small(word)}.`,
  many: ({ n }) => `${number(n)} ${n === 1 ? "Standort ist" : "Standorte sind"} in Wartung.`,
  endOf: ({ whom }) => `Wartung beenden: ${whom}`,
  all: "Ruhezeiten",
};
