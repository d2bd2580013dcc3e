// Generated from shared/words/de/page/common.ftl
import { number } from "../../format.js";
export const commonWords = {
  loading: "Wird geladen…",
  working: "Bitte warten…",
  retry: "Erneut versuchen",
  retrying: "Es wird automatisch erneut versucht.",
  reload: "Neu laden",
  more: "Mehr laden",
  andMore: ({ n }) => `und ${number(n)} weitere`,
  csv: "Als CSV speichern",
  close: "Schließen",
  cancel: "Abbrechen",
  dismiss: "Ausblenden",
  copy: "Kopieren",
  copied: "Kopiert",
  none: "keine Angabe",
  never: "nie",
  notReported: "nicht gemeldet",
  by: ({ who }) => `von ${who}`,
  notLoaded: "Dieser Teil der Seite konnte nicht geladen werden.",
  quietTimes: "Ruhezeiten",
  outOfDate: "Keine Aktualisierung: Was Sie sehen, ist vielleicht veraltet",
};
