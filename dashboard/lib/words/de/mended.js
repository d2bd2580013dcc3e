import { count } from "../../format.js";

/** @type {typeof import("../mended.js").mendedWords} */
export const mendedWords = {
  title: "Behobenes quittieren",
  lead: "Diese Displays laufen wieder, und ihre Zustandsmeldungen nennen keinen Ausfall.",
  left: (n) =>
    `${count(n, "Ausfall bleibt", "Ausfälle bleiben")}: Das Display ist erneut ausgefallen, oder jemand war schneller.`,
};
