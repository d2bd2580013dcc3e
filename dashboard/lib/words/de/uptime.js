// Generated from shared/words/de/page/uptime.ftl
import { number } from "../../format.js";
export const uptimeWords = {
  title: "Laufzeit",
  range: "Wie weit zurück",
  now: "jetzt",
  days: ({ n }) => n === 1 ? "24 Std." : `${n} Tage`,
  up: ({ share, days_n }) => `Lief ${share} der letzten ${days_n === 1 ? "24 Stunden" : `${days_n} Tage`}.`,
  partly: ({ known, share, days_n }) => `Bekannt sind ${known} der letzten ${days_n === 1 ? "24 Stunden" : `${days_n} Tage`}: Davon lief es ${share}. Über den Rest ist nichts bekannt.`,
  unknown: ({ time }) => `Für ${time} ist nichts bekannt.`,
  upWhileOpen: ({ share, days_n }) => `Lief ${share} der Öffnungszeiten der letzten ${days_n === 1 ? "24 Stunden" : `${days_n} Tage`}.`,
  closed: ({ time }) => `${time} war geschlossen; das zählt nicht.`,
  closedFor: ({ time }) => `Geschlossen, ${time}`,
  nothingKnown: "Über diese Zeit ist nichts bekannt.",
  calm: "In dieser Zeit nie abgestürzt, nie verstummt.",
  calmAsKnown: "In der bekannten Zeit nie abgestürzt, nie verstummt.",
  lasted: ({ time }) => `${time} lang`,
  more: ({ n }) => `und davor ${number(n)} ${n === 1 ? "weiteres Mal" : "weitere Male"}`,
  failed: "Die Laufzeit konnte nicht geladen werden.",
};
