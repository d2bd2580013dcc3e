healthWords-none = Dieses Display hat seinen Zustand noch nicht gemeldet.
healthWords-at = Gemeldet
healthWords-cpu = Prozessor
healthWords-limit = über dem üblichen Grenzwert von { $value }
healthWords-machine = Gerät
healthWords-os = System
healthWords-boot = Gerätestart
healthWords-player = Player-Start
healthWords-interval = Lebenszeichen alle
healthWords-seconds = { $n } { $n ->
    [one] Sekunde
   *[other] Sekunden
}
healthWords-logLevel = Protokollstufe
healthWords-capabilities = Kann
healthWords-all = alles

healthHistoryWords-title = Zeitverlauf
healthHistoryWords-range = Wie weit zurück
healthHistoryWords-days = { $n ->
    [one] 24{"\u00A0"}Std.
   *[other] { NUMBER($n) }{"\u00A0"}Tage
}
healthHistoryWords-ago = { $n ->
    [one] vor 24{"\u00A0"}Std.
   *[other] vor { NUMBER($n) }{"\u00A0"}Tagen
}
healthHistoryWords-now = jetzt
healthHistoryWords-always = immer { $last }
healthHistoryWords-words = niedrigster { $least }, höchster { $most }, letzter { $last }
healthHistoryWords-spoken = { $name }, die letzten { $days_n ->
    [one] 24 Stunden
   *[other] { NUMBER($days_n) } Tage
}: { $words }.
healthHistoryWords-notTold = in dieser Zeit nicht gemeldet
healthHistoryWords-silent = In dieser Zeit wurde { $time } lang nichts gemeldet: Dort sind die Linien unterbrochen.
healthHistoryWords-partly = Bekannt sind { $known } der letzten { $days_n ->
    [one] 24 Stunden
   *[other] { NUMBER($days_n) } Tage
}; über den Rest ist nichts bekannt: Dort sind die Linien unterbrochen.
healthHistoryWords-nothing = In dieser Zeit wurde nichts gemeldet. Von einem Display, das an ist, gibt es alle fünf Minuten einen Messwert.
healthHistoryWords-means = Jeder Punkt ist ein Mittelwert über { $time }; niedrigster und höchster sind einzelne Messwerte.
healthHistoryWords-failed = Der Verlauf konnte nicht geladen werden.
