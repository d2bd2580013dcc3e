recovery_screen = { $screen ->
    [black] Der Bildschirm ist schwarz
    [frozen] Der Bildschirm ist eingefroren
    [white] Der Bildschirm ist weiß
    [hung] Der Bildschirm zeigt einen Browser, der hängt
    [error_page] Der Bildschirm zeigt eine Fehlerseite
    [no_page] Der Bildschirm zeigt keine Seite
    [wrong_page] Der Bildschirm zeigt eine andere Seite als erwartet
    [disconnected] Der Bildschirm ist nicht angeschlossen
    [off] Der Bildschirm ist aus
   *[other] Der Bildschirm ist gestört
}
recovery_bad_screen = { recovery_screen }, und das Display ist zu hören
recovery_evidence = { $basis ->
    [crashed] Der Player ist abgestürzt, wie ein aktuelles Lebenszeichen meldet
    [service_failed] Ein Dienst ist ausgefallen, und das Display ist zu hören
    [stale] Das Display ist verstummt, obwohl wir zuhören, und der Broker meldet keine Trennung
   *[screen_failed] { recovery_bad_screen }
}

recovery_restarts = { $restarts ->
    [one] { $restarts } Player-Neustart
   *[other] { $restarts } Player-Neustarts
}
recovery_reboots = { $reboots ->
    [one] { $reboots } Neustart
   *[other] { $reboots } Neustarts
} des Geräts
recovery_tries = { $restarts ->
    [0] { recovery_reboots }
   *[other] { recovery_restarts }{ $reboots ->
        [0] {""}
       *[other] {" "}und { recovery_reboots }
    }
}
recovery_have = { recovery_tries } { $restarts ->
    [0] { $reboots ->
        [one] hat
       *[other] haben
    }
    [one] { $reboots ->
        [0] hat
       *[other] haben
    }
   *[other] haben
}
recovery_no_help = { $restarts ->
    [0] { $reboots ->
        [0] Bisher hat nichts geholfen
       *[other] { recovery_have } nicht geholfen
    }
   *[other] { recovery_have } nicht geholfen
}
recovery_refused = Das Display hat { recovery_tries } abgelehnt{ $reason_is ->
    [none] {""}
    [empty] {" "}({ $elsewhere ->
        [yes] { recovery_elsewhere }
       *[no] ohne Grund
    })
   *[some] {" "}({ $reason }{ $elsewhere ->
        [yes] {": "}{ recovery_elsewhere }
       *[no] {""}
    })
}
recovery_elsewhere = sein Start ist ein anderer als in seinem letzten gespeicherten Lebenszeichen
recovery_needs_you = Es wird nichts mehr gesendet, bis jemand eingreift und die Wiederherstellung fortsetzt.

recovery_off = Die Einstellung CRASH_RECOVERY_ENABLED schaltet die automatische Wiederherstellung ab.
bridge_silent = Die Bridge schweigt; was wir sehen, ist vielleicht veraltet. Bis sie wieder zuhört, wird nichts gesendet.
command_open = Ein Befehl ist unterwegs ({ command_name }); sein Ergebnis entscheidet, wie es weitergeht.
command_of_another = Ein Befehl { by_whom } ({ command_name }) hat nach { seconds_long } noch kein Ergebnis; die Wiederherstellung wartet, bis er eines hat, seine Zeit um ist oder ein Admin ihn beendet.
nothing_helped = { recovery_no_help }{ $seconds_is ->
    [none] {""}
   *[some] ; der erste Versuch war vor { seconds_long }
}. { recovery_needs_you }
all_refused = { recovery_refused }. { recovery_needs_you }

two_devices = Zwei Geräte verwenden dieses Login, zuletzt gesehen vor { seconds_long }; jedes von beiden könnte einen Befehl erhalten. Bitte einem davon einen neuen Code geben.
shut_down_on_purpose = Das Display wurde absichtlich heruntergefahren; bis zu seinem nächsten Lebenszeichen bleibt es in Ruhe.
stopped_on_purpose = Der Player wurde absichtlich gestoppt; er bleibt in Ruhe.

no_heartbeat_yet = Von dem Display kam noch kein Lebenszeichen; ohne das ist nichts zu entscheiden.
reports_come_again = Seine Nachrichten kommen wieder, seit die Bridge wieder zuhört; die Wiederherstellung wartet auf seine Lebenszeichen.
not_heard_since = Das Display war noch nicht zu hören, seit die Bridge wieder zuhört; seine Stille zählt von da an.
failure_not_repeated = Der Dienst { $unit } ist ausgefallen, aber das Display hat es seither nicht wieder gemeldet; wenn alles in Ordnung ist, bitte den Ausfall quittieren.
screen_disconnected = Der Bildschirm ist nicht angeschlossen. Das behebt kein Befehl: Jemand muss nach Kabel und Strom sehen.
screen_off = Der Bildschirm ist aus, und niemand hat das geplant. Es wird kein Befehl gesendet: Jemand muss ihn einschalten oder die Zeit planen, in der er aus ist.
screen_wrong_page = Der Bildschirm zeigt eine andere Seite als erwartet. Es wird kein Befehl gesendet: Jemand muss nachsehen, was der Player zeigen soll, oder die Erwartung ändern.
screen_unproven = { recovery_screen }; die Wiederherstellung wartet auf zwei neue Meldungen, bevor sie etwas sendet.
heard_again = Das Display ist wieder zu hören; ob es so bleibt, ist noch nicht bekannt.

silent_and_gone = Das Display ist verstummt und nicht verbunden: Es kann ihm nichts gesendet werden.
not_connected = { $basis ->
    [crashed] Der Player ist abgestürzt
    [service_failed] Ein Dienst ist ausgefallen
   *[other] { recovery_screen }
}, aber das Display ist nicht verbunden; die Wiederherstellung versucht es nach seinem nächsten Lebenszeichen erneut.
silent_too_long = Das Display ist seit mehr als einem Tag verstummt. Ein Neustart würde nicht helfen, darum sendet die Wiederherstellung nichts: Jemand muss nach ihm sehen.
command_done = Der Befehl der Wiederherstellung ({ command_name }) wurde ausgeführt; ob er geholfen hat, zeigt sich am Ende der Wartezeit.
asked_again_later = { recovery_refused }; am Ende der Wartezeit wird es erneut gefragt.
sent_lately = Vor Kurzem wurde ein Neustart gesendet; vor dem nächsten bekommt das Display Zeit, zurückzukommen.
cannot_do = { recovery_evidence }; nach eigener Angabe kann das Display aber nicht, was jetzt zu tun wäre: { command_name }.

watchdog_first = Der Player ist eben erst abgestürzt; zuerst ist der Wächter des Displays an der Reihe.
other_screens_first = { recovery_bad_screen }; die Wiederherstellung wartet ab, ob es viele andere auch trifft.
others_first = Das Display ist eben erst verstummt; die Wiederherstellung wartet ab, ob es viele andere auch sind.
shop_just_opened = Sein Standort hat eben erst geöffnet, und es war schon vorher verstummt; die Wiederherstellung gibt ihm Zeit zum Starten.
first_heartbeat_awaited = Das Display hat sich eben erst verbunden; die Wiederherstellung wartet auf sein erstes Lebenszeichen.
many_late = { $late } von { $seen } { $seen ->
    [one] Display
   *[other] Displays
} sind verspätet oder verstummt: Die Wiederherstellung wartet ab, ob weitere verstummen.
command_due = { recovery_evidence }; der nächste Takt, der Platz hat, sendet: { command_name }.
no_help_so_far = { $restarts ->
    [0] { $reboots ->
        [0] Bisher hat nichts geholfen
       *[other] { recovery_have } bisher nicht geholfen
    }
   *[other] { recovery_have } bisher nicht geholfen
}.
refused_before = { recovery_refused }.
command_sent = { recovery_evidence }: { command_name }, Versuch { $attempt } von { $attempts }.
no_help = { recovery_no_help }.
part_of_incident = Es ist Teil einer Störung:
