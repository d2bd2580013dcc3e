limitNames-disk = Datenträger
limitNames-memory = Speicher
limitNames-heat = Temperatur
limitNames-certificate = Zertifikat
limitNames-clock = Uhr
limitNames-voltage = Spannung
limitNames-read_only = Schreiben
limitNames-refused = Vorgaben

limitValues-share = { NUMBER($percent) }{"\u00A0"}%
limitValues-heat = { NUMBER($degrees) }{"\u00A0"}°C
limitValues-certificate = { $over ->
    [true] abgelaufen
   *[false] läuft ab in { $time }
}
limitValues-clock = { $how ->
    [right] richtig
    [fast] geht { $time } vor
   *[slow] geht { $time } nach
}
limitValues-voltage = { $low ->
    [true] seit dem Gerätestart einmal zu niedrig
   *[false] seit dem Gerätestart ausreichend
}
limitValues-read_only = { $is ->
    [true] Datenträger nimmt nichts an
   *[false] Datenträger ist beschreibbar
}
limitValues-refused = { $some ->
    [true] nicht alle angenommen
   *[false] alle angenommen
}

limitTexts-share = Grenzwert { NUMBER($percent) }{"\u00A0"}%
limitTexts-heat = Grenzwert { NUMBER($degrees) }{"\u00A0"}°C
limitTexts-certificate = Grenzwert: { $n } { $n ->
    [one] Tag
   *[other] Tage
} vor dem Ende
limitTexts-clock = Grenzwert { $time }

limitWords-passed = über dem Grenzwert seit
limitWords-stays = Behoben ist es, wenn der Wert eine Viertelstunde lang besser war.
limitWords-refused = Vom Display abgelehnt:
limitWords-orders-commands = Befehle
limitWords-orders-hours = seine Öffnungszeiten
limitWords-orders-log_level = seine Protokollstufe
limitWords-orders-look = wie sein Bildschirm aussehen darf
limitWords-reasons-unknown_zone = Es kennt die Zeitzone nicht. Bitte einen älteren Namen der Zone wählen oder das Display aktualisieren.
limitWords-reasons-unknown_level = Es kennt die Stufe nicht.
limitWords-reasons-unsupported_version = Sein Client ist zu alt für diese Form.
limitWords-reasons-not_understood = Es versteht sie nicht.
