frameWords-product = Signage Fleet
frameWords-nav-fleet = Flotte
frameWords-nav-incidents = Störungen
frameWords-nav-quiet = Ruhezeiten
frameWords-nav-availability = Verfügbarkeit
frameWords-nav-batches = Sammelbefehle
frameWords-nav-logs = Protokolle
frameWords-nav-conversions = Präsentationen
frameWords-nav-settings = Einstellungen
frameWords-nav-wall = Wandansicht
frameWords-api = API
frameWords-titled = { $n ->
    [0] { $title }
   *[other] ({ NUMBER($n) }) { $title }
}
frameWords-skip = Zum Inhalt springen
frameWords-zone = Zeiten in { $zone }
frameWords-signOut = Abmelden
frameWords-help = Tastenkürzel
frameWords-updating = Live
frameWords-paused = Keine Aktualisierung
frameWords-connecting = Verbindung wird aufgebaut…
frameWords-asOf = Stand { $time }
frameWords-roles-viewer = Betrachter
frameWords-roles-operator = Bediener
frameWords-roles-admin = Admin
frameWords-onlyFor = nur für { $sites }
