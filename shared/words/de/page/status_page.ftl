statusPageWords-title = Displays
statusPageWords-invalid = Dieser Link ist nicht gültig.
statusPageWords-allRun = Alle Displays laufen.
statusPageWords-allOpenRun = Alle Displays, die an sein sollen, laufen.
statusPageWords-allOff = Zurzeit sollen alle Displays aus sein.
statusPageWords-someDoNot = { $n } { $n ->
    [one] Display läuft
   *[other] Displays laufen
} nicht.
statusPageWords-someUnknown = Der Zustand von { $n } { $n ->
    [one] Display
   *[other] Displays
} ist nicht bekannt.
statusPageWords-noneKnown = Der Zustand der Displays ist zurzeit nicht bekannt.
statusPageWords-none = Dieser Standort hat keine Displays.
statusPageWords-more = Der Standort hat mehr Displays, als hier stehen.
statusPageWords-asOf = Stand: { $at }. Die Seite wird jede Minute aktualisiert.
statusPageWords-notRefreshed = Die Seite konnte nicht aktualisiert werden; sie versucht es von selbst wieder.
statusPageWords-noName = Display ohne Namen
statusPageWords-states-running = läuft
statusPageWords-states-not_running = läuft nicht
statusPageWords-states-off = soll aus sein
statusPageWords-states-unknown = unbekannt
statusPageWords-since = seit { $at }
statusPageWords-wholeWeek = seit einer Woche oder länger
statusPageWords-incident = Mehrere Displays sind zugleich ausgefallen: { $at }.
statusPageWords-week = Die letzten 7 Tage, ein Balken je Stunde nach ihrem schlechtesten Zustand:
statusPageWords-up = in den letzten 7 Tagen zu { $share } verfügbar
statusPageWords-upKnown = bekannt sind { $time }, davon zu { $share } verfügbar
statusPageWords-bar = Die letzten 7 Tage, jede Stunde nach ihrem schlechtesten Zustand: { $parts }
statusPageWords-part = { NUMBER($n) } { $state }
statusPageWords-closed = aus oder noch nicht da
