// Generated from shared/words/de/page/recovery.ftl
import { number } from "../../format.js";
export const recoveryWords = {
  state: {
    off: "Die Wiederherstellung ist aus",
    due: "Greift bald ein",
    in_flight: "Ein Befehl ist unterwegs",
    verifying: "Wartet auf einen Nachweis",
    locked: "Wartezeit nach dem letzten Befehl",
    suspended: "Ausgesetzt, bis jemand eingreift",
    unreachable: "Das Display ist nicht verbunden",
    blocked_bridge: "Die Bridge schweigt",
    blocked_breaker: "Zu viele fallen zugleich aus",
    held: "In Ruhe gelassen",
    not_recovered: "Wird nicht automatisch wiederhergestellt",
  },
  mute: "Es wird nichts gesendet: Das Display sendet noch Nachrichten",
  well: "Diesem Display geht es gut; es gibt nichts wiederherzustellen.",
  never: "Es hat noch kein Lebenszeichen gesendet; es gibt nichts wiederherzustellen.",
  tried: ({ restarts_n, reboots_n }) => `Bisher versucht: ${number(restarts_n)} ${restarts_n === 1 ? "Player-Neustart" : "Player-Neustarts"}, ${number(reboots_n)} ${reboots_n === 1 ? "Neustart" : "Neustarts"} des Geräts.`,
  resume: "Wiederherstellung fortsetzen",
};
