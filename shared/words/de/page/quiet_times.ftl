displays_n = { $n } { $n ->
    [one] Display
   *[other] Displays
}

quietTimesWords-title = Ruhezeiten
quietTimesWords-lead = Displays eine Weile in Ruhe lassen: keine automatischen Neustarts, keine Meldungen, Sammelbefehle warten, oder der Bildschirm darf aus sein. Ein Befehl, den jemand selbst sendet, geht immer hinaus.
quietTimesWords-which = Welche Ruhezeiten
quietTimesWords-current = Aktuelle
quietTimesWords-past = Vergangene
quietTimesWords-preset = Art
quietTimesWords-all = Alle Arten
quietTimesWords-add = Ruhezeit hinzufügen
quietTimesWords-none = Nichts ist in Ruhe, und nichts ist geplant.
quietTimesWords-nonePast = Noch ist keine Ruhezeit vorbei.
quietTimesWords-noneOf = Keine Ruhezeit passt.
quietTimesWords-failed = Die Ruhezeiten konnten nicht geladen werden.
quietTimesWords-ofDisplay = Nur die für { $name }
quietTimesWords-ofAll = Alle zeigen
quietTimesWords-state-on = Jetzt
quietTimesWords-state-planned = Geplant
quietTimesWords-state-over = Vorbei
quietTimesWords-state-ended = Beendet
quietTimesWords-presets-hold = In Arbeit
quietTimesWords-presets-snooze = Meldepause
quietTimesWords-presets-maintenance = Wartung
quietTimesWords-presets-opening_hours = Öffnungszeiten
quietTimesWords-presets-leave_out = Ausnehmen
quietTimesWords-presets-custom = Eigene
quietTimesWords-meaning-hold = Die Wiederherstellung sendet nichts, solange jemand am Display arbeitet.
quietTimesWords-meaning-snooze = Es gehen keine Meldungen hinaus. Was am Ende noch nicht stimmt, wird dann gesendet.
quietTimesWords-meaning-maintenance = Die Wiederherstellung sendet nichts, es gehen keine Meldungen hinaus, und Sammelbefehle warten.
quietTimesWords-meaning-opening_hours = Außerhalb dieser Zeiten ist geschlossen: Bildschirme dürfen aus sein, die Wiederherstellung wartet, es gehen keine Meldungen hinaus. Für die Verfügbarkeit zählen nur die Öffnungszeiten.
quietTimesWords-meaning-leave_out = Die Wiederherstellung lässt das Display in Ruhe, bis jemand das beendet.
quietTimesWords-meaning-custom = Sie wählen, was in Ruhe ist.
quietTimesWords-what-recovery = keine automatischen Neustarts
quietTimesWords-what-notices = keine Meldungen
quietTimesWords-what-screen = der Bildschirm darf aus sein
quietTimesWords-what-commands = Sammelbefehle warten
quietTimesWords-fleet = Die ganze Flotte
quietTimesWords-tag = Schlagwort { $tag }
quietTimesWords-displays = { displays_n }
quietTimesWords-until = bis
quietTimesWords-untilEnded = bis jemand sie beendet
quietTimesWords-from = ab
quietTimesWords-endedBy = beendet von { $who }
quietTimesWords-open = Geöffnet { $week }
quietTimesWords-weekly = Jede Woche { $week }
quietTimesWords-edit = Ändern…
quietTimesWords-end = Beenden
quietTimesWords-endOf = { $preset } beenden: { $whom }
quietTimesWords-editOf = { $preset } ändern: { $whom }

quietEndWords-title = Diese Ruhezeit beenden?
quietEndWords-text = { $n ->
    [one] Sie endet sofort, für ein Display.
   *[other] Sie endet sofort, für alle { $n } Displays, die sie betrifft.
}
quietEndWords-none = Sie endet sofort. Zurzeit betrifft sie kein Display.
quietEndWords-go = Beenden

quietFormWords-addTitle = Ruhezeit hinzufügen
quietFormWords-editTitle = Ändern: { $preset }
quietFormWords-kind = Was
quietFormWords-whom = Für
quietFormWords-scope-fleet = Die ganze Flotte
quietFormWords-scope-site = Einen Standort
quietFormWords-scope-tag = Ein Schlagwort
quietFormWords-scope-clients = Einzelne Displays
quietFormWords-site = Standort
quietFormWords-tag = Schlagwort
quietFormWords-find = Displays suchen
quietFormWords-chosen = { displays_n } gewählt
quietFormWords-moreFound = { $n } weitere: mehr vom Namen eingeben
quietFormWords-quiet = Was in Ruhe ist
quietFormWords-how = Wie lange
quietFormWords-hours = { $n ->
    [72] 3 Tage
    [168] Eine Woche
    [one] 1 Stunde
   *[other] { $n } Stunden
}
quietFormWords-openEnd = Bis jemand sie beendet
quietFormWords-at = Bis zu einer Zeit…
quietFormWords-from = Ab (leer: jetzt)
quietFormWords-until = Bis
quietFormWords-untilOptional = Bis (leer: ohne Ende)
quietFormWords-untilHere = Bis (Ihre Zeit, { $zone })
quietFormWords-yourTime = In Ihrer Zeit: { $zone }.
quietFormWords-weekly = Nur zu bestimmten Zeiten der Woche
quietFormWords-openingHours = Geöffnet
quietFormWords-weeklyHours = In Ruhe
quietFormWords-zone = Zeitzone dieser Zeiten
quietFormWords-zoneOwn = { $zone } (Ihre eigene)
quietFormWords-closedAllDay = geschlossen
quietFormWords-notThatDay = nicht an diesem Tag
quietFormWords-begins = { $day }, Zeit { NUMBER($n) }, von
quietFormWords-ends = { $day }, Zeit { NUMBER($n) }, bis
quietFormWords-addTimes = Hinzufügen
quietFormWords-addTimesTo = Zeit am { $day } hinzufügen
quietFormWords-removeTimes = Zeit { NUMBER($n) } am { $day } entfernen
quietFormWords-nights = { $n } { $n ->
    [one] Nacht
   *[other] Nächte
} später
quietFormWords-copy = Zeiten vom Montag auf Dienstag–Freitag übertragen
quietFormWords-reason = Grund
quietFormWords-reasonOptional = Grund (optional)
quietFormWords-go = Ruhezeit anlegen
quietFormWords-save = Speichern
quietFormWords-editThat = Diese ändern

quietPreviewWords-space = {" "}
quietPreviewWords-whole = die ganze Flotte ({ displays_n })
quietPreviewWords-place = { $name } ({ displays_n })
quietPreviewWords-tag = das Schlagwort { $tag } ({ displays_n })
quietPreviewWords-nobody = Bitte wählen, wen es betrifft.
quietPreviewWords-nothing = Bitte wählen, was in Ruhe ist.
quietPreviewWords-noHours = Bitte mindestens einem Tag seine Zeiten geben.
quietPreviewWords-noEnd = Bitte angeben, bis wann.
quietPreviewWords-sentence = { $what } für { $whom }, { $when }.
quietPreviewWords-now = ab jetzt
quietPreviewWords-from = ab { $time }
quietPreviewWords-until = bis { $time } ({ $zone })
quietPreviewWords-untilEnded = bis jemand sie beendet
quietPreviewWords-outside = außerhalb von { $week } ({ $zone })
quietPreviewWords-within = jede Woche { $week } ({ $zone })
quietPreviewWords-openNow = Jetzt geöffnet, schließt { $at }.
quietPreviewWords-alwaysOpen = Immer geöffnet.
quietPreviewWords-closedNow = Jetzt geschlossen, öffnet { $at }.
quietPreviewWords-alwaysClosed = Immer geschlossen.
quietPreviewWords-onNow = Jetzt in Ruhe, bis { $at }.
quietPreviewWords-alwaysOn = Immer in Ruhe.
quietPreviewWords-onNext = Als Nächstes: { $at }.

clientQuietWords-title = Ruhezeiten
clientQuietWords-nothing = Für dieses Display ist jetzt nichts in Ruhe.
clientQuietWords-failed = Was für dieses Display in Ruhe ist, konnte nicht geladen werden.
clientQuietWords-hold = In Arbeit…
clientQuietWords-snooze = Meldepause…
clientQuietWords-leaveOut = Ausnehmen…
clientQuietWords-maintenance = Wartung…
clientQuietWords-all = Alle Ruhezeiten dieses Displays

quietRefusalWords-nouns-ends_at = das Ende
quietRefusalWords-nouns-starts_at = der Beginn
quietRefusalWords-nouns-time_zone = die Zeitzone
quietRefusalWords-nouns-opening_hours = Öffnungszeiten
quietRefusalWords-nouns-leave_out = „Ausnehmen“
