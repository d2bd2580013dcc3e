// Generated from shared/words/de/page/rename_site.ftl
import { number } from "../../format.js";
export const renameWords = {
  link: ({ site }) => `${site} umbenennen …`,
  title: ({ site }) => `${site} umbenennen`,
  how: "Displays, Rechte, Kanäle, Ruhezeiten, Zeitpläne und Statusseiten tragen sofort den neuen Namen.",
  to: "Neuer Name",
  go: "Umbenennen",
  merge: ({ site }) => `Den Standort ${site} gibt es schon. Beide zu einem machen: Seine Öffnungszeiten gelten. Das lässt sich nicht rückgängig machen.`,
  atProvider: ({ n }) => `Der Anmeldedienst gibt ${number(n)} ${n === 1 ? "Person" : "Personen"} bei der nächsten Anmeldung den alten Namen. Benennen Sie den Standort auch dort um, sonst sehen sie kein Display.`,
};
