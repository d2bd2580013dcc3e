// Generated from shared/words/de/page/own_sessions.ftl
export const ownSessionWords = {
  title: "Wo Sie angemeldet sind",
  thisOne: "diese hier",
  someBrowser: "Ein Browser",
  browserOn: ({ browser, system }) => `${browser} unter ${system}`,
  nowhere: "Adresse unbekannt",
  since: "seit",
  used: "zuletzt benutzt",
  end: "Beenden",
  endOf: ({ name, address }) => `Sitzung von ${name} an ${address} beenden`,
};
