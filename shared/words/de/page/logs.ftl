logWords-title = Protokolle
logWords-recent = Letzte Fehler
logWords-lead = Fehler und kritische Meldungen der ganzen Flotte, die neuesten zuerst. Für alles, was ein Display protokolliert, das Display wählen.
logWords-of = Protokoll von { $name }
logWords-all = Alle Displays
logWords-open = Display öffnen
logWords-whoTitle = Wer am meisten protokolliert
logWords-who = Display suchen
logWords-whoNone = In dieser Zeit hat kein Display eine Protokollzeile gesendet.
logWords-whoMore = { $n } weitere: nach einem Namen suchen
logWords-errors = { $n } { $n ->
    [one] Fehler
   *[other] Fehler
}
logWords-warnings = { $n } { $n ->
    [one] Warnung
   *[other] Warnungen
}
logWords-lines = { $n } { $n ->
    [one] Zeile
   *[other] Zeilen
}
logWords-total = { $what } von { $n } { $n ->
    [one] Display
   *[other] Displays
}.
logWords-live = Live
logWords-liveOn = Neue Zeilen erscheinen automatisch
logWords-livePaused = Angehalten, während Sie weiter unten lesen
logWords-liveOff = Neue Zeilen erscheinen nicht automatisch
logWords-debugFor = { NUMBER($n) } Minuten lang alles protokollieren (Debug)
logWords-debugTelling = Das Display wird benachrichtigt…
logWords-debugTold = Das Display soll bis { $time } alles protokollieren (Debug).
logWords-levelNow = Protokolliert { $word } und darüber
logWords-hours = Letzte { $n ->
    [one] Stunde
   *[other] { $n } Stunden
}
logWords-days = Letzte { $n } Tage
logWords-range = Zeitraum
logWords-levels = Stufen
logWords-level-debug = Debug
logWords-level-info = Info
logWords-level-warning = Warnung
logWords-level-error = Fehler
logWords-level-critical = Kritisch
logWords-search = In Meldungen suchen
logWords-none = Keine Protokollzeile passt.
logWords-noneRecent = Keine Fehler in dieser Zeit.
logWords-newer = { $n } { $n ->
    [one] neuere Zeile
   *[other] neuere Zeilen
} zeigen
logWords-cut = gekürzt
logWords-failed = Das Protokoll konnte nicht geladen werden.
logWords-countsFailed = Die Anzahl der Zeilen je Display konnte nicht geladen werden.
logWords-csv = Die neuesten dieser Zeilen, höchstens 10.000, als Tabelle
