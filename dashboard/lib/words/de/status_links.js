// Generated from shared/words/de/page/status_links.ftl
export const statusLinkWords = {
  title: "Statusseiten",
  lead: "Wer einen Link hat, sieht ohne Konto einen Standort: die Namen seiner Displays, wie sie 7 Tage lang liefen, und was mehreren von ihnen fehlt. Ein Link gilt, bis ihn jemand beendet.",
  none: "Es gibt noch keinen Link.",
  failed: "Die Links konnten nicht geladen werden.",
  name: "Wer den Link bekommt",
  site: "Standort",
  make: "Link erstellen",
  made: "Den Link jetzt kopieren: Er wird nicht noch einmal gezeigt.",
  copy: "Den Link kopieren",
  lastUsed: "zuletzt benutzt",
  neverUsed: "nie benutzt",
  ended: "Beendet",
  end: "Beenden",
  endOf: ({ name }) => `Den Link ${name} beenden`,
  endTitle: "Diesen Link beenden?",
  endWhy: "Die Seite sagt von da an nur noch, dass der Link nicht gültig ist. Das lässt sich nicht rückgängig machen.",
};
