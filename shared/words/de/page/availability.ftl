availabilityWords-title = Verfügbarkeit
availabilityWords-lead = Der Anteil der Öffnungszeiten, in dem der Player lief. Zeit, über die nichts bekannt ist, zählt nicht.
availabilityWords-month = Monat
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
availabilityWords-unknown = Unbekannt
availabilityWords-showAll = Alle { $n } Standorte zeigen
availabilityWords-none = Es gibt noch kein Display.
availabilityWords-noneHere = An diesem Standort gibt es kein Display.
availabilityWords-failed = Die Verfügbarkeit konnte nicht geladen werden.
availabilityWords-was = { $share } der Öffnungszeiten im { $month } verfügbar: { $n } { $n ->
    [one] Display
   *[other] Displays
}.
availabilityWords-nothing = Über { $month } ist nichts bekannt.
availabilityWords-downFor = Alle Displays zusammen waren { $time } ausgefallen.
availabilityWords-unknownFor = Für { $time } ist nichts bekannt.
availabilityWords-closedFor = { $time } war geschlossen; das zählt nicht.
availabilityWords-days = Tag für Tag
availabilityWords-day = { $day }: { $share }
availabilityWords-scale = Die Höhe eines Tages ist, was fehlte: Ein voller Balken ist ein Zehntel der Öffnungszeiten oder mehr.
availabilityWords-zone = Tage in { $zone }.
