largeWords-unwell = Die Tabelle zeigt die Displays, die am dringendsten Hilfe brauchen. Für andere oben einen Standort oder Status wählen oder suchen.
largeWords-search = In einer Flotte dieser Größe durchsucht die Suche Namen, Kennungen, Standorte, Hostnamen und Adressen.
largeWords-first = { $n } der passenden sind gelistet. Ein Befehl für alle gelisteten geht nur an diese.
largeWords-more = { $n } weitere zeigen
largeWords-failed = Die Displays konnten nicht geladen werden.
largeWords-wall = { $n } { $n ->
    [one] weiterer Standort braucht
   *[other] weitere Standorte brauchen
} Hilfe
largeWords-wallWell = { $n } { $n ->
    [one] weiterer Standort ist
   *[other] weitere Standorte sind
} in Ordnung
largeWords-pick = Diese Flotte ist groß: Die Liste enthält die Displays, die die Seite der Flotte gelistet hat.
