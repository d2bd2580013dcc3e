tileWords-late = { $n } verspätet
tileWords-hint = { $on ->
    [true] Wieder alle Displays zeigen
   *[false] Nur „{ $word }“ zeigen
}

selectionWords-one = { $name } auswählen
selectionWords-all = Alle gelisteten Displays auswählen

tableWords-fine = { $all_n ->
    [one] { $n } von 1 Bildschirm ist
   *[other] { $n } von { $all_n } Bildschirmen sind
} in Ordnung
tableWords-dark = { $n } { $n ->
    [one] Standort
   *[other] Standorte
} dunkel
tableWords-others = { $n } { $n ->
    [one] Display braucht
   *[other] Displays brauchen
} Hilfe
tableWords-unknown = { $n } unbekannt
tableWords-title = Displays
tableWords-name = Display
tableWords-site = Standort
tableWords-status = Status
tableWords-heartbeat = Lebenszeichen
tableWords-day = 24 Stunden
tableWords-pictures = Bilder
tableWords-version = Version
tableWords-ip = IP
tableWords-reconnects = Neuverb.
tableWords-changed = { $n } geändert
tableWords-resort = Neu sortieren
tableWords-nothing = Kein Display passt.
tableWords-csv = Alle gelisteten Displays als Tabelle
tableWords-failed = Dienst ausgefallen
tableWords-mended = Ausfall behoben
tableWords-screen = { $how ->
    [black] Bild schwarz
    [frozen] Bild eingefroren
    [white] Bild weiß
    [hung] Browser hängt
    [error_page] Fehlerseite
    [no_page] keine Seite
    [wrong_page] falsche Seite
    [off] Bildschirm aus
    [disconnected] kein Bildschirm
   *[other] { $how }
}
tableWords-passed = { $limit ->
    [heat] { NUMBER($n) }{"\u00A0"}°C heiß
    [clock] Uhr falsch
    [voltage] Unterspannung
    [read_only] Datenträger nicht beschreibbar
    [refused] lehnt Vorgaben ab
    [certificate] Zertifikat: noch { $n } { $n ->
        [one] Tag
       *[other] Tage
    }
    [ended] Zertifikat abgelaufen
   *[other] { $limit ->
        [disk] Datenträger
        [memory] Speicher
       *[other] { $limit }
    } { NUMBER($n) }{"\u00A0"}% voll
}
tableWords-mute = keine Lebenszeichen
tableWords-unsteady = instabile Verbindung
tableWords-unsteadyHow = in der letzten Stunde { $losses_n }-mal verloren
tableWords-locked = in Wartezeit
tableWords-open = Befehl: { SMALL($word) }
tableWords-recent = Zuletzt quittiert
tableWords-connect = Display verbinden
tableWords-nothingYet = Über die Displays ist noch nichts bekannt. Sie erscheinen hier, sobald der Server antwortet.
