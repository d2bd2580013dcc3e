import { count, small } from "../../format.js";

/** @type {typeof import("../quiet_now.js").quietNowWords} */
export const quietNowWords = {
  how: {
    maintenance: "In Wartung",
    opening_hours: "Geschlossen",
    hold: "In Arbeit",
    leave_out: "Ausgenommen",
    snooze: "Ohne Meldungen",
    custom: "In Ruhe",
  },
  until: (time) => ` bis ${time}`,
  by: (who) => `, von ${who}`,
  cuts: (what) => `Es unterbricht eine Ruhezeit: ${what}.`,
  waiting: (n) =>
    `${count(n, "Display ist", "Displays sind")} in einer Ruhezeit, in der Sammelbefehle warten: Sie warten bis zu deren Ende.`,
};

/** @type {typeof import("../quiet_now.js").quietBannerWords} */
export const quietBannerWords = {
  fleet: "Die ganze Flotte",
  text: (whom, word) => `${whom}: ${small(word)}.`,
  many: (n) => `${count(n, "Standort ist", "Standorte sind")} in Wartung.`,
  endOf: (whom) => `Wartung beenden: ${whom}`,
  all: "Ruhezeiten",
};
