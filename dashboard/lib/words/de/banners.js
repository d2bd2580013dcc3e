// Generated from shared/words/de/page/banners.ftl
export const bannerWords = {
  offline: ({ time }) => `Der Server antwortet nicht. Zu sehen ist der Stand von ${time}. Es wird automatisch erneut versucht.`,
  offlineFromTheStart: "Der Server antwortet nicht. Es wird automatisch erneut versucht.",
  signOutFailed: "Die Abmeldung hat den Server nicht erreicht: Sie sind noch angemeldet. Bitte gleich noch einmal versuchen.",
  bridge: ({ time }) => `Die Bridge schweigt seit ${time}; der Zustand der Displays ist unbekannt.`,
  bridgeNever: "Von der Bridge war noch nichts zu hören; der Zustand der Displays ist unbekannt.",
  bridgeWhy: "Nichts, was Displays senden, wird gespeichert. Die Wiederherstellung greift nicht ein, solange sie nichts sieht.",
  scheduler: ({ time }) => `Der Taktgeber ist verspätet: letzter Takt ${time}.`,
  schedulerNever: "Der Taktgeber hat noch keinen Takt gegeben.",
  schedulerWhy: "Bis dahin verfallen überfällige Befehle nicht, und nichts wird wiederhergestellt.",
  empty: ({ sites }) => `Kein Display steht am Standort ${sites}, für den Ihre Rechte gelten.`,
  emptyWhy: "Wenn der Standort jetzt anders heißt, bitten Sie einen Admin, Ihre Standorte zu ändern.",
  breaker: "Die Wiederherstellung hält sich zurück: Zu viele Displays sind zugleich ausgefallen.",
  release: "Handeln lassen …",
};
