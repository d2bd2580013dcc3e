client_registered = { $how ->
    [enrolment] Angelegt durch einen Verbindungscode.
    [first_message] Aufgenommen mit seiner ersten Nachricht.
   *[other] Aufgenommen.
}
state_changed = { status_before } → { status_after }:
status_before = { $before ->
    [running] Läuft
    [late] Verspätet
    [stale] Verstummt
    [crashed] Abgestürzt
    [starting] Startet
    [stopped] Gestoppt
    [unknown] Unbekannt
   *[other] { $before }
}
status_after = { $after ->
    [running] läuft
    [late] verspätet
    [stale] verstummt
    [crashed] abgestürzt
    [starting] startet
    [stopped] gestoppt
    [unknown] unbekannt
   *[other] { $after }
}

service_failed = Dienst { $unit } ausgefallen
failure_acknowledged = Ausfall von { $unit } quittiert { by_whom }
screen_changed = { $fails ->
    [yes] { screen_began_to_fail }
   *[no] { screen_fails_no_more }
}
screen_began_to_fail = { $screen ->
    [off] Der Bildschirm ist aus, und niemand hat das geplant
   *[other] { recovery_screen }
}
screen_fails_no_more = { $screen ->
    [ok] Der Bildschirm zeigt wieder seinen Inhalt
    [off] Der Bildschirm ist aus, was jetzt kein Ausfall ist
    [unknown] Niemand sieht mehr, wie der Bildschirm ist
   *[other] Der Bildschirm ist nicht mehr gestört
}
line_logged = { log_level }: { $message }
log_level = { $level ->
    [debug] Debug
    [info] Info
    [warning] Warnung
    [error] Fehler
    [critical] Kritisch
   *[other] { $level }
}

command_requested = { command_name }: angefordert { by_whom }{ $reason_is ->
    [some] { command_reason }
   *[none] {""}
}
command_reason = { $by_kind ->
    [recovery] . { $reason }
   *[person] {" "}({ $reason })
}
command_received = { command_name }: vom Display empfangen
command_over_before = { command_name }: Das Display hat nach dem Ende noch geantwortet ({ command_step })
command_step = { $state ->
    [queued] eingereiht
    [sent] gesendet
    [received] empfangen
    [running] läuft
    [succeeded] gelungen
    [failed] fehlgeschlagen
    [rejected] abgelehnt vom Display
    [expired] verfallen
    [timed_out] ohne Ergebnis
    [cancelled] abgebrochen
   *[other] { $state }
}
command_over = { command_name }: { command_step }{ $cause_is ->
    [some] {" "}({ command_cause_long })
   *[none] { command_over_why }
}
command_over_why = { $why_is ->
    [some] {" "}({ $why })
   *[none] { command_confirmed }
}
command_confirmed = { $confirmed_by ->
    [ack] {" "}(Das Display hat es bestätigt)
    [evidence] {" "}(Belegt durch das, was das Display danach getan hat)
    [both] {" "}(Das Display hat es bestätigt, und was es danach getan hat, belegt es)
   *[other] {""}
}

recovery_did_nothing = Die Wiederherstellung greift nicht ein:
recovery_asked = Die Wiederherstellung greift ein ({ command_name }):

person_did = { done_to_it }{ $named ->
    [yes] , { by_whom }
   *[no] {""}
}
done_to_it = { $did ->
    [client_write] Angaben geändert
    [client_delete] Entfernt
    [client_log_level] Protokollstufe für eine Weile geändert
    [enrolment_create] Verbindungscode erstellt
    [enrolment_use] Verbunden: Das Display hat sein Login abgeholt
    [enrolment_rotate] Passwort durch ein eigenes des Displays ersetzt
    [enrolment_delete] Login widerrufen
    [screenshot_send] Bild seines Bildschirms gespeichert
    [screenshot_look] Bild seines Bildschirms angesehen
    [recovery_hold] Wiederherstellung angehalten
    [recovery_resume] Wiederherstellung fortgesetzt
    [recovery_exclude] Von der Wiederherstellung ausgenommen
    [recovery_include] Wird wieder automatisch wiederhergestellt
    [quiet_time_create] Ruhezeit angelegt
    [quiet_time_write] Ruhezeit geändert
    [quiet_time_end] Ruhezeit beendet
   *[other] { $action }
}
