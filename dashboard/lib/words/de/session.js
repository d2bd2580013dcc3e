/** @type {typeof import("../session.js").sessionWords} */
export const sessionWords = {
  user: "Benutzername",
  password: "Passwort",
  go: "Anmelden",
  going: "Anmeldung läuft…",
  wrong: "Das hat nicht geklappt. Bitte Benutzername und Passwort prüfen.",
  code: "Code",
  codeHow: "Die sechs Ziffern, die Ihre App jetzt zeigt, oder ein Ersatzcode.",
  codeWrong: "Dieser Code hat nicht funktioniert. Bitte den nächsten abwarten und erneut versuchen.",
  wait: (left) => `Zu viele Fehlversuche. Erneut möglich in ${left}.`,
  endedElsewhere: "Sie haben sich in einem anderen Tab abgemeldet.",
  again: "Erneut anmelden",
  againWhy: "Ihre Sitzung ist zu Ende. Die Seite bleibt, wie sie ist; nach der Anmeldung geht es weiter.",
  goTo: (name) => `Mit ${name} anmelden`,
  or: "oder",
  reasons: {
    denied_by_provider: "Der Anmeldedienst hat Sie nicht eingelassen.",
    groups_left_out:
      "Ihre Gruppen sind dem Anmeldedienst zu viele zum Senden. Wer ihn verwaltet, kann stattdessen App-Rollen senden.",
    last_admin:
      "Sie sind der einzige Admin mit einem Passwort, und der Anmeldedienst gibt Ihnen andere Rechte. Bitte mit dem Passwort anmelden und zuerst einen weiteren Admin hinzufügen.",
    no_role_at_provider:
      "Der Anmeldedienst kennt Sie, gibt Ihnen hier aber keine Rolle. Bitte fragen, wer ihn verwaltet.",
    no_site_at_provider:
      "Der Anmeldedienst gibt Ihnen hier eine Rolle, aber keinen Standort. Bitte fragen, wer ihn verwaltet.",
    person_disabled: "Ihr Konto hier ist deaktiviert. Bitte einen Admin fragen.",
    provider_unavailable: "Der Anmeldedienst antwortet nicht. Bitte erneut versuchen oder mit einem Passwort anmelden.",
    too_many_attempts: "Zu viele Fehlversuche. Bitte später erneut versuchen.",
    try_over: "Diese Anmeldung hat zu lange gedauert oder in einem anderen Fenster begonnen. Bitte erneut versuchen.",
  },
  someReason:
    "Die Antwort des Anmeldedienstes wurde nicht angenommen. Bitte erneut versuchen; geschieht es wieder, bitte der Person melden, die diesen Server betreibt.",
  byProxy: "Ihre Sitzung ist zu Ende. Zum Anmelden die Seite neu laden; sie öffnet sich, wo Sie waren.",
};
