// Generated from shared/words/de/page/shops.ftl
import { number } from "../../format.js";
export const finderWords = {
  region: "Displays suchen",
  search: "Name, Standort, Status, Dienst…",
  searchLabel: "Displays suchen",
  found: ({ more, every, n, all_n }) => `${more ? "mindestens " : ""}${every ? "" : `${number(n)} von `}${number(all_n)} ${all_n === 1 ? "Display" : "Displays"}`,
  without: ({ part }) => `Filter ${part} entfernen`,
  tag: ({ tag }) => `Schlagwort ${tag}`,
  incident: ({ id }) => `Störung ${id}`,
  unsteady: "Instabile Verbindung",
  clear: "Filter aufheben",
};
export const shopWords = {
  title: "Standorte",
  none: "Ohne Standort",
  well: ({ n }) => n === 1 ? "in Ordnung" : `alle ${number(n)} in Ordnung`,
  are: ({ n, all_n, how }) => `${number(n)} von ${number(all_n)} ${how === "stale" ? "verstummt" : how === "crashed" ? "abgestürzt" : how === "bad" ? "gestört" : `${how}`}`,
  more: ({ n }) => `+${number(n)}`,
  all: ({ n }) => `Alle ${number(n)} Standorte zeigen`,
  tags: "Schlagwörter",
  allTags: ({ n }) => `Alle ${number(n)} Schlagwörter zeigen`,
};
