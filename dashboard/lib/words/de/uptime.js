import { count } from "../../format.js";

/** @param {number} days */
const span = (days) => (days === 1 ? "24 Stunden" : `${days} Tage`);

/** @type {typeof import("../uptime.js").uptimeWords} */
export const uptimeWords = {
  title: "Laufzeit",
  range: "Wie weit zurück",
  now: "jetzt",
  days: (n) => (n === 1 ? "24\u00a0Std." : `${n}\u00a0Tage`),
  up: (share, days) => `Lief ${share} der letzten ${span(days)}.`,
  partly: (known, share, days) =>
    `Bekannt sind ${known} der letzten ${span(days)}: Davon lief es ${share}. Über den Rest ist nichts bekannt.`,
  unknown: (time) => `Für ${time} ist nichts bekannt.`,
  upWhileOpen: (share, days) => `Lief ${share} der Öffnungszeiten der letzten ${span(days)}.`,
  closed: (time) => `${time} war geschlossen; das zählt nicht.`,
  closedFor: (time) => `Geschlossen, ${time}`,
  nothingKnown: "Über diese Zeit ist nichts bekannt.",
  calm: "In dieser Zeit nie abgestürzt, nie verstummt.",
  calmAsKnown: "In der bekannten Zeit nie abgestürzt, nie verstummt.",
  lasted: (time) => `${time} lang`,
  more: (n) => `und davor ${count(n, "weiteres Mal", "weitere Male")}`,
  failed: "Die Laufzeit konnte nicht geladen werden.",
};
