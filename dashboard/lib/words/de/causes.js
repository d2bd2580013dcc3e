// Generated from shared/words/de/page/causes.ftl
import { number } from "../../format.js";
export const causeWords = {
  title: "Was nicht stimmt",
  network: ({ subnet }) => `Netz ${subnet}`,
  several: "Mehrere Standorte",
  some: "Mehrere Displays",
  since: "seit",
  again: ({ n }) => `${number(n)}-mal in 24 Stunden`,
  holds: "Die Wiederherstellung hält sich zurück: So viele zugleich können unser eigener Fehler sein.",
  acts: ({ n }) => `Die Wiederherstellung arbeitet an ${number(n)} ${n === 1 ? "Display" : "Displays"}.`,
  off: "Die automatische Wiederherstellung ist abgeschaltet.",
  show: ({ n }) => n === 1 ? "Zeigen" : `Die ${number(n)} zeigen`,
  snooze: "Meldepause für den Standort…",
  release: "Handeln lassen …",
  story: "Was geschehen ist",
  unsteady: ({ n }) => `Instabile Verbindung: ${number(n)} ${n === 1 ? "Display" : "Displays"}`,
  worst: ({ name, losses_n }) => `${name} hat den Broker in der letzten Stunde ${number(losses_n)}-mal verloren. Vermutlich liegt es am Netz dort.`,
  worstOf: ({ name, losses_n }) => `Jedes hat den Broker in der letzten Stunde mindestens dreimal verloren, ${name} ${number(losses_n)}-mal. Vermutlich liegt es an den Netzen dort.`,
  shared: ({ n }) => `Zwei Geräte mit einem Login: ${number(n)} ${n === 1 ? "Display" : "Displays"}`,
  sharedWhy: "Jedes der beiden Geräte kann einen Befehl erhalten; darum lässt die Wiederherstellung das Display in Ruhe. Ein neuer Code für eines davon beendet das.",
  andMore: ({ n }) => `und ${number(n)} weitere`,
  mended: ({ n, since }) => `Seit ${since} hat die Wiederherstellung ${number(n)} ${n === 1 ? "Ausfall" : "Ausfälle"} behoben.`,
};
