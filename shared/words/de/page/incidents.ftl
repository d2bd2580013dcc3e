displays_members_n = { $members_n } { $members_n ->
    [one] Display
   *[other] Displays
}

incidentWords-title = Störungen
incidentWords-lead = Displays, die zusammen ausgefallen sind, und was sie gemeinsam haben.
incidentWords-which = Welche Störungen
incidentWords-open = Offen
incidentWords-closed = Beendet
incidentWords-number = Störung { NUMBER($id) }
incidentWords-kind-site = Ein Standort
incidentWords-kind-subnet = Ein Netz
incidentWords-kind-cluster = Mehrere Standorte
incidentWords-kind-listening = Bei uns
incidentWords-ours = Wir hören die Flotte nicht
incidentWords-are = { $unwell_n } von { displays_members_n } noch gestört
incidentWords-back = { $members_n ->
    [one] es ist zurück
   *[other] alle { $members_n } sind zurück
}
incidentWords-were = { displays_members_n }
incidentWords-lasts = seit { $time }
incidentWords-lasted = dauerte { $time }
incidentWords-merged = Sie erwies sich als Teil von Störung { NUMBER($id) }.
incidentWords-inMaintenance = { $n } { $n ->
    [one] Display ist
   *[other] Displays sind
} in einer Ruhezeit: Die Wiederherstellung sendet dorthin nichts.
incidentWords-before = Davor: Störung { NUMBER($id) }
incidentWords-displays = Displays
incidentWords-well = in Ordnung seit
incidentWords-timeline = Was geschehen ist
incidentWords-noneOpen = Keine Displays sind zusammen ausgefallen.
incidentWords-noneClosed = Es wurde noch keine Störung beendet.
incidentWords-maintenance = Wartung planen: siehe ….
incidentWords-failed = Die Störungen konnten nicht geladen werden.
incidentWords-failedOne = Diese Störung konnte nicht geladen werden.
