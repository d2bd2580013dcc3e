import { count } from "../../format.js";

/** @type {typeof import("../status_page.js").statusPageWords} */
export const statusPageWords = {
  title: "Displays",
  invalid: "Dieser Link ist nicht gültig.",
  allRun: "Alle Displays laufen.",
  allOpenRun: "Alle Displays, die an sein sollen, laufen.",
  allOff: "Zurzeit sollen alle Displays aus sein.",
  someDoNot: (n) => `${count(n, "Display läuft", "Displays laufen")} nicht.`,
  someUnknown: (n) => `Der Zustand von ${count(n, "Display", "Displays")} ist nicht bekannt.`,
  noneKnown: "Der Zustand der Displays ist zurzeit nicht bekannt.",
  none: "Dieser Standort hat keine Displays.",
  more: "Der Standort hat mehr Displays, als hier stehen.",
  asOf: (at) => `Stand: ${at}. Die Seite wird jede Minute aktualisiert.`,
  notRefreshed: "Die Seite konnte nicht aktualisiert werden; sie versucht es von selbst wieder.",
  noName: "Display ohne Namen",
  states: {
    running: "läuft",
    not_running: "läuft nicht",
    off: "soll aus sein",
    unknown: "unbekannt",
  },
  since: (at) => `seit ${at}`,
  wholeWeek: "seit einer Woche oder länger",
  incident: (at) => `Mehrere Displays sind zugleich ausgefallen: ${at}.`,
  week: "Die letzten 7 Tage, ein Balken je Stunde nach ihrem schlechtesten Zustand:",
  up: (share) => `in den letzten 7 Tagen zu ${share} verfügbar`,
  bar: (parts) => `Die letzten 7 Tage, jede Stunde nach ihrem schlechtesten Zustand: ${parts}`,
  part: (n, state) => `${n} ${state}`,
  closed: "aus oder noch nicht da",
};
