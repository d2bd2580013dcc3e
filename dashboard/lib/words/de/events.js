// Generated from shared/words/de/page/events.ftl
export const eventWords = {
  kind: {
    registered: "Aufgenommen",
    state: "Zustand",
    service_failed: "Dienstausfall",
    service_cleared: "Quittiert",
    screen: "Bildschirm",
    log: "Protokoll",
    command: "Befehl",
    recovery: "Wiederherstellung",
    audit: "Änderung",
  },
  none: "Mit diesem Display ist noch nichts geschehen.",
  failed: "Die Ereignisse konnten nicht geladen werden.",
};
