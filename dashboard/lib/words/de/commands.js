/** @type {typeof import("../commands.js").commandWords} */
export const commandWords = {
  title: "Befehle",
  sending: "Wird gesendet…",
  unknown:
    "Der Server antwortet nicht. Vielleicht hat er den Befehl angenommen: Es wird mit demselben Schlüssel erneut gefragt, damit er nicht zweimal läuft.",
  unreachable:
    "Der Server hat nicht geantwortet. Ob er den Befehl angenommen hat, steht hier oder unter „Befehle“, sobald er wieder antwortet.",
  expiresIn: (left) => `Verfällt in ${left}, wenn das Display nicht antwortet`,
  resultIn: (left) => `Ergebnis fällig in ${left}`,
  waitsForSweep: "Seine Zeit ist um; der nächste Takt schließt ihn in etwa einer Minute ab.",
  again: "Erneut senden",
  withdraw: "Zurückziehen",
  end: {
    button: "Trotzdem beenden",
    title: "Diesen Befehl beenden?",
    text: "Vielleicht hat das Display ihn schon und führt ihn noch aus. Der Server wartet nicht länger und sendet ihn nicht noch einmal; Neustarts bleiben gesperrt, bis ihre Zeit um ist.",
    reason: "Grund",
    go: "Beenden",
  },
  locked: (time, left) =>
    `Neustarts sind bis ${time} gesperrt (noch ${left}): Das Display bekommt Zeit, zurückzukommen.`,
  viewer: "Befehle senden dürfen nur Bediener.",
  adminOnly: "Herunterfahren dürfen nur Admins.",
  notCapable: "Dieses Display kann das nach eigener Angabe nicht.",
  open: "Ein Befehl ist unterwegs; bitte sein Ende abwarten.",
  by: (who) => `angefordert von ${who === "recovery" ? "der Wiederherstellung" : who}`,
  confirmedBy: {
    ack: "Das Display hat es bestätigt.",
    evidence: "Belegt durch das, was das Display danach getan hat.",
    both: "Das Display hat es bestätigt, und was es danach getan hat, belegt es.",
  },
  late: (word, time) => `Das Display hat verspätet geantwortet: ${word}, ${time}.`,
  confirm: {
    reboot_host: {
      title: "Dieses Display neu starten?",
      text: "Der Bildschirm ist dunkel, bis das Gerät zurück ist. Neustarts sind danach eine Weile gesperrt.",
      go: "Jetzt neu starten",
    },
    shutdown_host: {
      title: "Dieses Display herunterfahren?",
      text: "Von hier aus lässt es sich nicht wieder starten: Jemand muss es vor Ort einschalten.",
      go: "Jetzt herunterfahren",
    },
    screen_off: {
      title: "Diesen Bildschirm ausschalten?",
      text: "Er bleibt aus, bis die Öffnungszeit das nächste Mal beginnt oder endet, oder, ohne Öffnungszeiten, bis jemand ihn einschaltet. Der Player läuft weiter.",
      go: "Ausschalten",
    },
  },
  confirmThrough: {
    title: "Den Player in einer Ruhezeit neu starten?",
    text: "Vielleicht arbeitet dort gerade jemand.",
    go: "Jetzt neu starten",
  },
  none: "An dieses Display wurde kein Befehl gesendet.",
  failed: "Die Befehle konnten nicht geladen werden.",
  cause: {
    no_ack: "Das Display hat ihn nicht rechtzeitig bestätigt.",
    no_subscriber: "Das Display war nicht mit dem Broker verbunden.",
    never_published: "Der Broker war nicht rechtzeitig erreichbar; der Befehl wurde nie gesendet.",
    no_result: "Das Display hat ihn angenommen, aber nichts zeigte rechtzeitig, dass er gewirkt hat.",
    publish_denied: "Der Broker hat es nicht erlaubt. Bitte der Person melden, die den Server betreibt.",
    screen_did_not_switch: "Der Bildschirm ist wie zuvor.",
    screen_does_not_say: "Der Bildschirm sagt nicht, ob er geschaltet wurde.",
    reboot_did_not_happen: "Das Display lief weiter, ohne neu zu starten.",
    precondition_failed:
      "Das Display oder sein Player ist seit dem Befehl schon neu gestartet; darum hat es nichts getan.",
    no_journal:
      "Der Datenträger des Displays nimmt nichts mehr an; darum hat es nichts begonnen. Bitte die Karte tauschen.",
    unknown_action: "Das Display kennt diesen Befehl nicht: Sein Client ist zu alt.",
    not_capable: "Das Display kann das nicht.",
    unsupported_version: "Das Display versteht den Befehl nicht: Sein Client ist zu alt.",
    busy: "Das Display war mit einem anderen Befehl beschäftigt.",
    expired: "Das Display kam zu spät dazu; darum hat es nichts getan.",
    interrupted: "Das Display ging aus, bevor es fertig war.",
    client_deleted: "Das Display wurde inzwischen gelöscht.",
    login_revoked: "Das Login des Displays wurde inzwischen widerrufen.",
    rights_lost: "Wer das angefordert hat, darf es dorthin nicht mehr senden.",
    no_picture: "Das Display hat nach eigener Angabe ein Bild gesendet, aber keines kam an.",
    already_rebooted: "Das Display war schon von selbst neu gestartet.",
  },
};
