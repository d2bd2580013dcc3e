failureWords-region = Dienst ausgefallen
failureWords-title = Dienst ausgefallen auf { $n } { $n ->
    [one] Display
   *[other] Displays
}
failureWords-unit = Dienst
failureWords-acknowledge = Quittieren
failureWords-acknowledgeOf = Ausfall von { $name } quittieren
failureWords-sending = Wird quittiert…
failureWords-done = Quittiert
failureWords-by = Quittiert von { $who }
failureWords-elsewhere = Von jemand anderem quittiert
failureWords-again = Erneut ausgefallen ({ $time }): vor dem Quittieren bitte ansehen
failureWords-error = Die Quittung kam nicht durch.
failureWords-refused = Nicht quittiert: { $detail }
failureWords-mended = { $n } { $n ->
    [one] Dienst ist
   *[other] Dienste sind
} ausgefallen und { $n ->
    [one] läuft
   *[other] laufen
} wieder.
failureWords-wellSince = in Ordnung seit
failureWords-mendedBy = neu gestartet von { $who ->
    [recovery] der Wiederherstellung
   *[other] { $who }
}, in Ordnung seit
failureWords-acknowledgeThese = { $n ->
    [one] Diesen
   *[other] Diese { $n }
} quittieren
failureWords-showAll = Alle { $n } zeigen
failureWords-showLess = Weniger zeigen
failureWords-paused = Stand { $time }, keine Aktualisierung
failureWords-viewer = Quittieren dürfen nur Bediener
