import { count } from "../../format.js";

/** @type {typeof import("../edit.js").editWords} */
export const editWords = {
  button: "Bearbeiten…",
  title: "Display bearbeiten",
  name: "Name",
  site: "Standort",
  tags: "Schlagwörter, durch Kommas getrennt",
  notes: "Notizen",
  teamNote: "Notiz für das Team",
  go: "Speichern",
  manyButton: "Standort, Schlagwörter…",
  manyTitle: "Standort oder Schlagwörter ändern",
  many: (n) => `Das ändert ${count(n, "Display", "Displays")}.`,
  move: "Zu diesem Standort umziehen; leer heißt: ohne Standort",
  add: "Schlagwörter hinzufügen",
  remove: "Schlagwörter entfernen",
  left: (names) =>
    `Geändert bis auf diese; sie sind weg oder hätten zu viele Schlagwörter: ${names.slice(0, 5).join(", ")}`,
  woken: (names) => `Keine Ruhezeit gilt mehr für: ${names.slice(0, 5).join(", ")}`,
};
