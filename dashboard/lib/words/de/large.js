// Generated from shared/words/de/page/large.ftl
import { number } from "../../format.js";
export const largeWords = {
  unwell: "Die Tabelle zeigt die Displays, die am dringendsten Hilfe brauchen. Für andere oben einen Standort oder Status wählen oder suchen.",
  search: "In einer Flotte dieser Größe durchsucht die Suche Namen, Kennungen, Standorte, Hostnamen und Adressen.",
  first: ({ n }) => `${number(n)} der passenden sind gelistet. Ein Befehl für alle gelisteten geht nur an diese.`,
  more: ({ n }) => `${number(n)} weitere zeigen`,
  failed: "Die Displays konnten nicht geladen werden.",
  wall: ({ n }) => `${number(n)} ${n === 1 ? "weiterer Standort braucht" : "weitere Standorte brauchen"} Hilfe`,
  wallWell: ({ n }) => `${number(n)} ${n === 1 ? "weiterer Standort ist" : "weitere Standorte sind"} in Ordnung`,
  pick: "Diese Flotte ist groß: Die Liste enthält die Displays, die die Seite der Flotte gelistet hat.",
};
