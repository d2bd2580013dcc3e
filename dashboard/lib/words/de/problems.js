// Generated from shared/words/de/page/problems.ftl
export const problemWords = {
  refused: {
    command_in_flight: "Dieses Display hat schon einen offenen Befehl.",
    not_capable: "Dieses Display kann das nach eigener Angabe nicht.",
    forbidden: "Ihre Rolle erlaubt das nicht. Vielleicht wurde sie geändert, seit diese Seite offen ist: bitte einen Admin fragen.",
    internal_error: "Im Server ist etwas schiefgegangen. Bitte erneut versuchen; geschieht es wieder, bitte der Person melden, die den Server betreibt.",
    api_timeout: "Der Server hat nicht rechtzeitig geantwortet. Bitte nachsehen, ob es geschehen ist, bevor Sie es erneut versuchen.",
  },
  unreachable: "Der Server antwortet nicht. Bitte gleich noch einmal versuchen.",
  reference: ({ of }) => `Referenz ${of}.`,
};
