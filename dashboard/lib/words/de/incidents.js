import { count, number } from "../../format.js";

/** @param {number} n */
const displays = (n) => count(n, "Display", "Displays");

/** @type {typeof import("../incidents.js").incidentWords} */
export const incidentWords = {
  title: "Störungen",
  lead: "Displays, die zusammen ausgefallen sind, und was sie gemeinsam haben.",
  which: "Welche Störungen",
  open: "Offen",
  closed: "Beendet",
  number: (id) => `Störung ${id}`,
  kind: {
    site: "Ein Standort",
    subnet: "Ein Netz",
    cluster: "Mehrere Standorte",
    listening: "Bei uns",
  },
  ours: "Wir hören die Flotte nicht",
  are: (unwell, members) => `${number(unwell)} von ${displays(members)} noch gestört`,
  back: (members) => (members === 1 ? "es ist zurück" : `alle ${number(members)} sind zurück`),
  were: displays,
  lasts: (time) => `seit ${time}`,
  lasted: (time) => `dauerte ${time}`,
  merged: (id) => `Sie erwies sich als Teil von Störung ${id}.`,
  inMaintenance: (n) =>
    `${count(n, "Display ist", "Displays sind")} in einer Ruhezeit: Die Wiederherstellung sendet dorthin nichts.`,
  displays: "Displays",
  well: "in Ordnung seit",
  timeline: "Was geschehen ist",
  noneOpen: "Keine Displays sind zusammen ausgefallen.",
  noneClosed: "Es wurde noch keine Störung beendet.",
  maintenance: "Wartung planen: siehe ….",
  failed: "Die Störungen konnten nicht geladen werden.",
  failedOne: "Diese Störung konnte nicht geladen werden.",
};
