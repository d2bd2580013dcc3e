/** @type {typeof import("../people.js").byPassword} */
export const byPassword = {
  title: "Personen",
  lead: "Alle melden sich mit eigenem Namen und Passwort an. Wer neu ist, bekommt ein Passwort, das bis zum ersten eigenen gilt.",
  failed: "Die Personen konnten nicht geladen werden.",
  add: "Person hinzufügen…",
  addTitle: "Person hinzufügen",
  addGo: "Hinzufügen",
  name: "Benutzername",
  nameHow: "Buchstaben, Ziffern und . _ @ + -",
  role: "Rolle",
  sites: "Nur für diese Standorte",
  sitesHow: "In jeder Zeile einer, so geschrieben wie bei den Displays. Leer: alle Standorte.",
  you: "Sie selbst",
  signedIn: "zuletzt angemeldet",
  never: "war noch nie angemeldet",
  since: "hinzugefügt",
  hasUntil: "muss ein Passwort setzen bis",
  over: "Das übergebene Passwort ist abgelaufen: bitte zurücksetzen.",
  provided: (name) => `Personen, denen ${name} eine Rolle gibt, kommen von selbst herein, mit dieser Rolle.`,
  fromProvider: (name) => `Rolle und Standorte von ${name}, bei jeder Anmeldung neu`,
  someProvider: "einem Anmeldedienst",
  comesBack:
    "Solange der Anmeldedienst der Person eine Rolle gibt, kommt sie mit ihrer nächsten Anmeldung zurück. Um sie auszusperren, das Konto deaktivieren.",
  disabled: "Deaktiviert",
  disabledSince: "deaktiviert",
  moreOf: (name) => `Mehr zu ${name}`,
  ask: {
    role: {
      item: "Rolle oder Standorte ändern…",
      title: (name) => `Rolle von ${name} ändern`,
      text: "Die Sitzungen der Person enden; sie meldet sich mit der neuen Rolle wieder an.",
      go: "Ändern",
    },
    reset: {
      item: "Passwort zurücksetzen…",
      title: (name) => `Passwort von ${name} zurücksetzen?`,
      text: "Das bisherige Passwort und alle Sitzungen enden sofort. Sie bekommen ein neues Passwort zum Übergeben.",
      go: "Passwort zurücksetzen",
    },
    factor: {
      item: "Zweiten Faktor zurücksetzen…",
      title: (name) => `Zweiten Faktor von ${name} zurücksetzen?`,
      text: "Für jemanden, der Telefon und Ersatzcodes verloren hat. Die Sitzungen enden, und das Passwort allein genügt, bis ein neuer zweiter Faktor eingerichtet ist.",
      go: "Zweiten Faktor zurücksetzen",
    },
    disable: {
      item: "Deaktivieren…",
      title: (name) => `${name} deaktivieren?`,
      text: "Alle Sitzungen enden sofort, und eine Anmeldung ist erst wieder nach dem Aktivieren möglich. Token, die die Person ausgestellt hat, gelten weiter: Sie lassen sich unten widerrufen.",
      go: "Deaktivieren",
    },
    enable: {
      item: "Aktivieren…",
      title: (name) => `${name} wieder aktivieren?`,
      text: "Die Anmeldung geht mit dem bisherigen Passwort.",
      go: "Aktivieren",
    },
    remove: {
      item: "Entfernen…",
      title: (name) => `${name} entfernen?`,
      text: "Das Konto ist endgültig weg; was die Person getan hat, bleibt im Änderungsprotokoll. Token, die sie ausgestellt hat, gelten weiter: Sie lassen sich unten widerrufen.",
      go: "Entfernen",
    },
  },
  handOver: {
    title: (name) => `Ein Passwort für ${name}`,
    once: "Jetzt kopieren: Es wird nicht noch einmal gezeigt.",
    how: (name) =>
      `Persönlich oder auf einem anderen vertrauenswürdigen Weg an ${name} übergeben. Bei der Anmeldung wird ein eigenes gesetzt.`,
    until: "Es gilt bis",
    copy: "Passwort kopieren",
    done: "Fertig",
  },
};

/** @type {typeof import("../people.js").byProxy} */
export const byProxy = {
  ...byPassword,
  lead: "Alle kommen durch den Proxy vor diesem Server, der sie an ihrer E-Mail-Adresse erkennt. Wer hier hinzugefügt ist, wird eingelassen; ein Passwort gibt es nicht.",
  name: "E-Mail-Adresse",
  nameHow: "Wie der Proxy sie kennt; Groß- und Kleinschreibung ist gleich.",
  ask: {
    ...byPassword.ask,
    role: { ...byPassword.ask.role, text: "Es gilt ab dem Nächsten, was die Person tut." },
    disable: {
      ...byPassword.ask.disable,
      text: "Die Person wird erst nach dem Aktivieren wieder eingelassen. Token, die sie ausgestellt hat, gelten weiter: Sie lassen sich unten widerrufen.",
    },
    enable: { ...byPassword.ask.enable, text: "Die Person wird wieder eingelassen, mit ihrer bisherigen Rolle." },
  },
};
