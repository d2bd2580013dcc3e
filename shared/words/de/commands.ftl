command_cancelled = zurückgezogen { by_whom }
command_ended = beendet { by_whom }: { $reason }
command_cause = { command_cause_long }.
command_cause_long = { $cause ->
    [no_ack] Das Display hat ihn nicht rechtzeitig bestätigt
    [no_subscriber] Das Display war nicht mit dem Broker verbunden
    [never_published] Der Broker war nicht rechtzeitig erreichbar; der Befehl wurde nie gesendet
    [no_result] Das Display hat ihn angenommen, aber nichts zeigte rechtzeitig, dass er gewirkt hat
    [publish_denied] Der Broker hat es nicht erlaubt. Bitte der Person melden, die den Server betreibt
    [screen_did_not_switch] Der Bildschirm ist wie zuvor
    [screen_does_not_say] Der Bildschirm sagt nicht, ob er geschaltet wurde
    [reboot_did_not_happen] Das Display lief weiter, ohne neu zu starten
    [precondition_failed] Das Display oder sein Player ist seit dem Befehl schon neu gestartet; darum hat es nichts getan
    [no_journal] Der Datenträger des Displays nimmt nichts mehr an; darum hat es nichts begonnen. Bitte die Karte tauschen
    [unknown_action] Das Display kennt diesen Befehl nicht: Sein Client ist zu alt
    [not_capable] Das Display kann das nicht
    [unsupported_version] Das Display versteht den Befehl nicht: Sein Client ist zu alt
    [busy] Das Display war mit einem anderen Befehl beschäftigt
    [expired] Das Display kam zu spät dazu; darum hat es nichts getan
    [interrupted] Das Display ging aus, bevor es fertig war
    [client_deleted] Das Display wurde inzwischen gelöscht
    [login_revoked] Das Login des Displays wurde inzwischen widerrufen
    [rights_lost] Wer das angefordert hat, darf es dorthin nicht mehr senden
    [no_picture] Das Display hat nach eigener Angabe ein Bild gesendet, aber keines kam an
    [already_rebooted] Das Display war schon von selbst neu gestartet
   *[other] { $cause }
}
