import { count, number } from "../../format.js";

/** @type {Record<string, string>} */
const DID = { stale: "verstummt", crashed: "abgestürzt", bad: "gestört" };

/** @type {typeof import("../shops.js").finderWords} */
export const finderWords = {
  region: "Displays suchen",
  search: "Name, Standort, Status, Dienst…",
  searchLabel: "Displays suchen",
  found: (n, all, more) =>
    (more ? "mindestens " : "") + (n === all ? "" : `${number(n)} von `) + count(all, "Display", "Displays"),
  without: (part) => `Filter ${part} entfernen`,
  tag: (tag) => `Schlagwort ${tag}`,
  incident: (id) => `Störung ${id}`,
  unsteady: "Instabile Verbindung",
  clear: "Filter aufheben",
};

/** @type {typeof import("../shops.js").shopWords} */
export const shopWords = {
  title: "Standorte",
  none: "Ohne Standort",
  well: (n) => (n === 1 ? "in Ordnung" : `alle ${number(n)} in Ordnung`),
  are: (how, n, all) => `${number(n)} von ${number(all)} ${DID[how] ?? how}`,
  more: (n) => `+${number(n)}`,
  all: (n) => `Alle ${number(n)} Standorte zeigen`,
  tags: "Schlagwörter",
  allTags: (n) => `Alle ${number(n)} Schlagwörter zeigen`,
};
