import { count } from "../../format.js";

/** @type {typeof import("../rename_site.js").renameWords} */
export const renameWords = {
  link: (site) => `${site} umbenennen …`,
  title: (site) => `${site} umbenennen`,
  how: "Displays, Rechte, Kanäle, Ruhezeiten, Zeitpläne und Statusseiten tragen sofort den neuen Namen.",
  to: "Neuer Name",
  go: "Umbenennen",
  merge: (site) =>
    `Den Standort ${site} gibt es schon. Beide zu einem machen: Seine Öffnungszeiten gelten. Das lässt sich nicht rückgängig machen.`,
  atProvider: (n) =>
    `Der Anmeldedienst gibt ${count(n, "Person", "Personen")} bei der nächsten Anmeldung den alten Namen. Benennen Sie den Standort auch dort um, sonst sehen sie kein Display.`,
};
