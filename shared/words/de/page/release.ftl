### Die Frage, bevor eine Sicherung freigegeben wird.

releaseWords-title = Wiederherstellung handeln lassen?
releaseWords-ask = { $n } { $n ->
    [one] Display wird
   *[other] Displays werden
} zurückgehalten. Die Wiederherstellung darf jetzt { $most_n ->
    [one] eines
   *[other] bis zu { $most_n }
} davon neu starten.
releaseWords-later = Fallen später weitere Displays gemeinsam aus, hält sie sich wieder zurück.
releaseWords-go = Handeln lassen
releaseWords-done = Die Wiederherstellung darf jetzt handeln.
releaseWords-hold = Wieder anhalten …
