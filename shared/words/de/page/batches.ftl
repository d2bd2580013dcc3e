displays_n = { $n } { $n ->
    [one] Display
   *[other] Displays
}

batchWords-region = Ausgewählte Displays
batchWords-listed = Nichts ausgewählt: für { $n ->
    [one] das gelistete
   *[other] alle { $n } gelisteten
}
batchWords-selected = { displays_n } ausgewählt
batchWords-clear = Auswahl aufheben
batchWords-quiet = Ruhezeit…
batchWords-later = Später…
batchWords-silent = Die Bridge schweigt: Der Zustand der Displays ist unbekannt
batchWords-title = { $action }: { displays_n }
batchWords-would = { $outcome ->
    [accepted] { $n } { $n ->
        [one] wird
       *[other] werden
    } gesendet
    [waiting] { $n } in späteren Wellen
    [command_in_flight] { $n } { $n ->
        [one] hat
       *[other] haben
    } schon einen Befehl
    [locked_out] { $n } in Wartezeit bis { $until }
    [not_capable] { $n } { $n ->
        [one] kann
       *[other] können
    } das nicht
    [unknown_client] { $n } nicht mehr bekannt
   *[other] { $n } { $outcome }
}
batchWords-reason = Grund (optional)
batchWords-waves = In Wellen: ein Display, dann 10{"\u00A0"}%, dann der Rest; Schluss, sobald mehr als 10{"\u00A0"}% nicht gelingen
batchWords-type = Zum Fortfahren { NUMBER($n) } eingeben
batchWords-go = { $action }: { displays_n }
batchWords-page = Alle Sammelbefehle
batchWords-pageTitle = Sammelbefehle
batchWords-lead = Was an viele Displays zugleich gesendet wurde, und was daraus geworden ist.
batchWords-one = Ein Sammelbefehl
batchWords-none = Es wurde noch kein Sammelbefehl gesendet. Dazu Displays in der Tabelle der Flotte auswählen.
batchWords-failed = Die Sammelbefehle konnten nicht geladen werden.
batchWords-failedOne = Dieser Sammelbefehl konnte nicht geladen werden.
batchWords-progress-good = { $n } von { $all_n } gelungen
batchWords-progress-going = { $n } unterwegs
batchWords-progress-waiting = { $n } { $n ->
    [one] wartet
   *[other] warten
} auf eine spätere Welle
batchWords-progress-bad = { $n } nicht gelungen
batchWords-progress-unsent = { $n } nicht gesendet ({ $why })
batchWords-progress-whole = { $parts }.
batchWords-unsentAmount = { $n } { $why }
batchWords-unsent-command_in_flight = schon mit Befehl
batchWords-unsent-locked_out = in Wartezeit
batchWords-unsent-not_capable = dafür nicht geeignet
batchWords-unsent-unknown_client = nicht bekannt
batchWords-unsent-aborted = abgebrochen
batchWords-wave = Welle { NUMBER($n) }
batchWords-waveOf = Welle { NUMBER($n) } von { NUMBER($all) }
batchWords-pause = Anhalten
batchWords-resume = Fortsetzen
batchWords-abort = Rest abbrechen
batchWords-state-running = Läuft
batchWords-state-paused = Angehalten
batchWords-state-finished = Fertig
batchWords-state-aborted = Abgebrochen
batchWords-state-succeeded = Gelungen
batchWords-state-partial = Teilweise gelungen
batchWords-state-failed = Fehlgeschlagen
batchWords-outcome-accepted = Angenommen
batchWords-outcome-waiting = Wartet auf seine Welle
batchWords-outcome-command_in_flight = Hatte schon einen Befehl
batchWords-outcome-locked_out = In Wartezeit
batchWords-outcome-not_capable = Kann das nicht
batchWords-outcome-unknown_client = Nicht bekannt
batchWords-outcome-aborted = Nie gesendet
