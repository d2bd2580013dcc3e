// Generated from shared/words/de/page/failures.ftl
import { number } from "../../format.js";
export const failureWords = {
  region: "Dienst ausgefallen",
  title: ({ n }) => `Dienst ausgefallen auf ${number(n)} ${n === 1 ? "Display" : "Displays"}`,
  unit: "Dienst",
  acknowledge: "Quittieren",
  acknowledgeOf: ({ name }) => `Ausfall von ${name} quittieren`,
  sending: "Wird quittiert…",
  done: "Quittiert",
  by: ({ who }) => `Quittiert von ${who}`,
  elsewhere: "Von jemand anderem quittiert",
  again: ({ time }) => `Erneut ausgefallen (${time}): vor dem Quittieren bitte ansehen`,
  error: "Die Quittung kam nicht durch.",
  refused: ({ detail }) => `Nicht quittiert: ${detail}`,
  mended: ({ n }) => `${number(n)} ${n === 1 ? "Dienst ist" : "Dienste sind"} ausgefallen und ${n === 1 ? "läuft" : "laufen"} wieder.`,
  wellSince: "in Ordnung seit",
  mendedBy: ({ who }) => `neu gestartet von ${who === "recovery" ? "der Wiederherstellung" : `${who}`}, in Ordnung seit`,
  acknowledgeThese: ({ n }) => `${n === 1 ? "Diesen" : `Diese ${number(n)}`} quittieren`,
  showAll: ({ n }) => `Alle ${number(n)} zeigen`,
  showLess: "Weniger zeigen",
  paused: ({ time }) => `Stand ${time}, keine Aktualisierung`,
  viewer: "Quittieren dürfen nur Bediener",
};
