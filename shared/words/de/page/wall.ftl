wallWords-bridge = Die Bridge schweigt: Der Zustand der Displays ist unbekannt.
wallWords-leave = Zurück zur Flotte
wallWords-mended = { $n } { $n ->
    [one] Dienstausfall ist
   *[other] Dienstausfälle sind
} behoben, aber nicht quittiert.
