// Generated from shared/words/de/page/edit.ftl
import { number } from "../../format.js";
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
  many: ({ n }) => `Das ändert ${number(n)} ${n === 1 ? "Display" : "Displays"}.`,
  move: "Zu diesem Standort umziehen; leer heißt: ohne Standort",
  add: "Schlagwörter hinzufügen",
  remove: "Schlagwörter entfernen",
  left: ({ names }) => `Geändert bis auf diese; sie sind weg oder hätten zu viele Schlagwörter: ${names}`,
  woken: ({ names }) => `Keine Ruhezeit gilt mehr für: ${names}`,
};
