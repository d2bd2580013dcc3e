import { count } from "../../format.js";

/** @type {typeof import("../health.js").healthWords} */
export const healthWords = {
  none: "Dieses Display hat seinen Zustand noch nicht gemeldet.",
  at: "Gemeldet",
  cpu: "Prozessor",
  limit: (value) => `über dem üblichen Grenzwert von ${value}`,
  machine: "Gerät",
  os: "System",
  boot: "Gerätestart",
  player: "Player-Start",
  interval: "Lebenszeichen alle",
  seconds: (n) => count(n, "Sekunde", "Sekunden"),
  logLevel: "Protokollstufe",
  capabilities: "Kann",
  all: "alles",
};

/** @param {number} days */
const span = (days) => (days === 1 ? "24 Stunden" : `${days} Tage`);

/** @type {typeof import("../health.js").healthHistoryWords} */
export const healthHistoryWords = {
  title: "Zeitverlauf",
  range: "Wie weit zurück",
  days: (n) => (n === 1 ? "24\u00a0Std." : `${n}\u00a0Tage`),
  ago: (n) => (n === 1 ? "vor 24\u00a0Std." : `vor ${n}\u00a0Tagen`),
  now: "jetzt",
  words: (least, most, last) =>
    least === most ? `immer ${last}` : `niedrigster ${least}, höchster ${most}, letzter ${last}`,
  spoken: (name, days, words) => `${name}, die letzten ${span(days)}: ${words}.`,
  notTold: "in dieser Zeit nicht gemeldet",
  silent: (time) => `In dieser Zeit wurde ${time} lang nichts gemeldet: Dort sind die Linien unterbrochen.`,
  partly: (known, days) =>
    `Bekannt sind ${known} der letzten ${span(days)}; über den Rest ist nichts bekannt: Dort sind die Linien unterbrochen.`,
  nothing:
    "In dieser Zeit wurde nichts gemeldet. Von einem Display, das an ist, gibt es alle fünf Minuten einen Messwert.",
  means: (time) => `Jeder Punkt ist ein Mittelwert über ${time}; niedrigster und höchster sind einzelne Messwerte.`,
  failed: "Der Verlauf konnte nicht geladen werden.",
};
