import { count, number, small } from "../../format.js";

/** What a screen shows. @type {Record<string, string>} */
const HOW = { black: "schwarz", frozen: "eingefroren", off: "ungeplant aus", disconnected: "nicht angeschlossen" };

/** @type {typeof import("../attention.js").attentionWords} */
export const attentionWords = {
  title: "Braucht Aufmerksamkeit",
  count: (n, told) => count(n, "Display", "Displays") + (told ? `, außer den ${number(told)} oben` : ""),
  wrong: "Was nicht stimmt",
  did: "Bisher unternommen",
  why: "Warum gerade nichts geschieht",
  showAll: (n) => `${number(n)} weitere zeigen`,
  inTable: (n) => `${number(n)} weitere: über die Kacheln und die Tabelle unten`,
  crashed: "Player abgestürzt",
  stale: "Verstummt, letztes Lebenszeichen",
  staleNever: "Verstummt",
  mute: "Sendet Nachrichten, aber keine Lebenszeichen, das letzte",
  failed: (unit) => `Dienst ${unit} ausgefallen`,
  screen: (how) => `Bildschirm ${HOW[how] ?? how} seit`,
  limit: (passed) => `Grenzwert überschritten: ${passed}, seit`,
  step: (action, step) => `${action}: ${small(step)}`,
  nothingYet: "Noch nichts",
  sentLately: "Vor Kurzem wurde ein Neustart gesendet",
  steps: (n) => count(n, "Versuch", "Versuche"),
  until: (time, left) => `Bis ${time} (noch ${left}).`,
  incident: (id) => `Teil von Störung ${id}`,
  notUnwell: "Hierbei greift die Wiederherstellung nicht ein",
  heldBack: "Wartet mit den anderen, siehe oben.",
};
