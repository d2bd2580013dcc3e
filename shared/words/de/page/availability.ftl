availabilityWords-title = Verfügbarkeit
availabilityWords-lead = Der Anteil der Öffnungszeiten, in dem der Player lief. Zeit, über die nichts bekannt ist, zählt nicht.
availabilityWords-period = Zeitraum
availabilityWords-weeks = Wochen
availabilityWords-months = Monate
availabilityWords-thisWeek = Diese Woche, bisher
availabilityWords-lastWeek = Letzte Woche
availabilityWords-first = Erster Tag
availabilityWords-last = Letzter Tag
availabilityWords-soFar = { $month }, bisher
availabilityWords-print = Drucken
availabilityWords-csv = Diese Liste als Tabelle
availabilityWords-sites = Standorte
availabilityWords-all = Alle Standorte
availabilityWords-site = Standort
availabilityWords-displays = Displays
availabilityWords-display = Display
availabilityWords-share = Verfügbar
availabilityWords-down = Ausgefallen
availabilityWords-downEach = Ausfall je Display
availabilityWords-unknown = Unbekannt
availabilityWords-unknownEach = Unbekannt je Display
availabilityWords-known = { $n ->
    [one] bekannt: { $time }
   *[other] bekannt: je { $time }
}
availabilityWords-none = Es gibt noch kein Display.
availabilityWords-noneHere = An diesem Standort gibt es kein Display.
availabilityWords-failed = Die Verfügbarkeit konnte nicht geladen werden.
availabilityWords-was = { $share } der Öffnungszeiten verfügbar ({ $period }): { $n } { $n ->
    [one] Display
   *[other] Displays
}.
availabilityWords-nothing = Über diesen Zeitraum ist nichts bekannt: { $period }.
availabilityWords-knownEach = { $n ->
    [one] Bekannt sind davon { $time }.
   *[other] Bekannt sind davon im Mittel { $time } je Display.
}
availabilityWords-downFor = { $n ->
    [one] Es war { $time } ausgefallen.
   *[other] Im Mittel war jedes { $time } ausgefallen.
}
availabilityWords-unknownFor = { $n ->
    [one] Für { $time } ist nichts bekannt.
   *[other] Im Mittel ist je Display für { $time } nichts bekannt.
}
availabilityWords-closedFor = { $n ->
    [one] { $time } war geschlossen; das zählt nicht.
   *[other] Im Mittel war je Display { $time } geschlossen; das zählt nicht.
}
availabilityWords-days = Tag für Tag
availabilityWords-day = { $day }: { $share }
availabilityWords-scale = Die Höhe eines Tages ist, was fehlte: Ein voller Balken ist ein Zehntel der Öffnungszeiten oder mehr.
availabilityWords-zone = Tage in { $zone }.
