// Generated from shared/words/de/page/health.ftl
import { number } from "../../format.js";
export const healthWords = {
  none: "Dieses Display hat seinen Zustand noch nicht gemeldet.",
  at: "Gemeldet",
  cpu: "Prozessor",
  limit: ({ value }) => `über dem üblichen Grenzwert von ${value}`,
  machine: "Gerät",
  os: "System",
  boot: "Gerätestart",
  player: "Player-Start",
  interval: "Lebenszeichen alle",
  seconds: ({ n }) => `${number(n)} ${n === 1 ? "Sekunde" : "Sekunden"}`,
  logLevel: "Protokollstufe",
  capabilities: "Kann",
  all: "alles",
};
export const healthHistoryWords = {
  title: "Zeitverlauf",
  range: "Wie weit zurück",
  days: ({ n }) => n === 1 ? "24 Std." : `${n} Tage`,
  ago: ({ n }) => n === 1 ? "vor 24 Std." : `vor ${n} Tagen`,
  now: "jetzt",
  always: ({ last }) => `immer ${last}`,
  words: ({ least, most, last }) => `niedrigster ${least}, höchster ${most}, letzter ${last}`,
  spoken: ({ name, days_n, words }) => `${name}, die letzten ${days_n === 1 ? "24 Stunden" : `${days_n} Tage`}: ${words}.`,
  notTold: "in dieser Zeit nicht gemeldet",
  silent: ({ time }) => `In dieser Zeit wurde ${time} lang nichts gemeldet: Dort sind die Linien unterbrochen.`,
  partly: ({ known, days_n }) => `Bekannt sind ${known} der letzten ${days_n === 1 ? "24 Stunden" : `${days_n} Tage`}; über den Rest ist nichts bekannt: Dort sind die Linien unterbrochen.`,
  nothing: "In dieser Zeit wurde nichts gemeldet. Von einem Display, das an ist, gibt es alle fünf Minuten einen Messwert.",
  means: ({ time }) => `Jeder Punkt ist ein Mittelwert über ${time}; niedrigster und höchster sind einzelne Messwerte.`,
  failed: "Der Verlauf konnte nicht geladen werden.",
};
