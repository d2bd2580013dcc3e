these_slides = { $slides_n ->
    [one] Folie
   *[other] Folien
} { $slides }

conversionWords-title = Präsentationen
conversionWords-lead = Präsentationen (PowerPoint, OpenDocument) werden zu PDFs. Bilder, Videos und PDFs bleiben, wie sie sind.
conversionWords-drop = Dateien hier ablegen
conversionWords-or = oder
conversionWords-choose = Dateien auswählen
conversionWords-limit = ppt, pps, pot, pptx, ppsx, pptm, ppsm, potx, potm, odp, otp, pdf, png, jpeg, webp, gif, mp4, webm · je bis zu { $size }
conversionWords-uploading = Wird hochgeladen: { $share }
conversionWords-storing = Die Datei wird geprüft…
conversionWords-waits = Wartet, bis sie an der Reihe ist
conversionWords-cancelUpload = Hochladen von { $name } abbrechen
conversionWords-cancelled = Hochladen abgebrochen.
conversionWords-unreachable = Das Hochladen wurde unterbrochen. Bitte erneut versuchen.
conversionWords-uploads = Hochladen
conversionWords-list = Medien
conversionWords-none = Es wurde noch nichts hochgeladen.
conversionWords-failedList = Die Liste der Medien konnte nicht geladen werden.
conversionWords-status-pending = Wartet
conversionWords-status-processing = Wird umgewandelt
conversionWords-status-ready = Bereit
conversionWords-status-failed = Fehlgeschlagen
conversionWords-status-stored = Gespeichert
conversionWords-fault-source_missing = Die hochgeladene Datei liegt nicht mehr auf dem Medienlaufwerk.
conversionWords-fault-source_changed = Die Datei auf dem Medienlaufwerk ist nicht die, die hochgeladen wurde.
conversionWords-fault-not_a_presentation = Der Inhalt der Datei ist keine Präsentation oder ist beschädigt.
conversionWords-fault-encrypted = Die Präsentation ist durch ein Passwort geschützt; bitte ohne Passwort speichern und noch einmal hochladen.
conversionWords-fault-too_large_unpacked = Die Präsentation ist ausgepackt zu groß.
conversionWords-fault-no_slides = Die Präsentation hat keine Folien, die gezeigt werden können.
conversionWords-fault-converter_refused = Der Umwandler kann diese Datei nicht lesen; vielleicht ist sie beschädigt.
conversionWords-fault-converter_failed = Die Präsentation konnte nicht umgewandelt werden; vielleicht ist sie beschädigt.
conversionWords-fault-converter_busy = Der Umwandler ist nicht verfügbar; die Umwandlung wartet und wird aufgegeben, wenn es so bleibt.
conversionWords-fault-converter_cut = Die Verbindung zum Umwandler brach ab, bevor das PDF vollständig war.
conversionWords-fault-invalid_pdf = Was der Umwandler geliefert hat, ist kein brauchbares PDF.
conversionWords-fault-converter_unreachable = Der Umwandler ist nicht erreichbar; die Umwandlung wartet auf ihn.
conversionWords-fault-queue_full = Der Umwandler hat zu viel zu tun; die Umwandlung wartet auf ihn.
conversionWords-fault-volume_unavailable = Das Medienlaufwerk ist voll oder nicht beschreibbar; die Umwandlung wartet darauf.
conversionWords-fault-attempts_used_up = Die Umwandlung wurde zu oft unterbrochen und darum aufgegeben.
conversionWords-pages = { $n } { $n ->
    [one] Seite
   *[other] Seiten
}
conversionWords-attempt = { NUMBER($n) }. Versuch
conversionWords-waitingBefore = { $n } davor
conversionWords-open = Öffnen
conversionWords-openOf = PDF von { $name } öffnen
conversionWords-newTab = In neuem Tab öffnen
conversionWords-download = Herunterladen
conversionWords-warnings = { $n } { $n ->
    [one] Warnung
   *[other] Warnungen
}
conversionWords-notes = { $n } { $n ->
    [one] Hinweis
   *[other] Hinweise
}
conversionWords-tookTooLong = Die Präsentation umzuwandeln dauert länger als die { $n } Sekunden, die eine dauern darf (CONVERSION_DEADLINE_SECONDS).
conversionWords-warning-pages_differ = Aus { $slides_n } { $slides_n ->
    [one] Folie
   *[other] Folien
} wurden { $pages_n } { $pages_n ->
    [one] Seite
   *[other] Seiten
}.
conversionWords-warning-hidden_slides = { $n } { $n ->
    [one] ausgeblendete Folie fehlt
   *[other] ausgeblendete Folien fehlen
} im PDF.
conversionWords-warning-fonts_alike = { $n } { $n ->
    [one] Schrift wurde
   *[other] Schriften wurden
} durch eine gleich breite ersetzt:
conversionWords-warning-fonts_substituted = { $n } { $n ->
    [one] Schrift wurde
   *[other] Schriften wurden
} ersetzt; Zeilen brechen vielleicht anders um:
conversionWords-warning-fonts_not_known = Welche Schriften der Text verwendet, ist nicht bekannt.
conversionWords-warning-fonts_perhaps_missing = Welche Schriften der Text verwendet, ist nicht bekannt; fehlende können unter diesen sein:
conversionWords-warning-formulas_lost = { $n } { $n ->
    [one] Formel ist
   *[other] Formeln sind
} im PDF nicht zu sehen: { these_slides }.
conversionWords-warning-charts_not_drawn = { $n } { $n ->
    [one] Diagramm sieht
   *[other] Diagramme sehen
} anders aus als in PowerPoint: { these_slides }. Bitte als Bild einfügen.
conversionWords-warning-pictures_missing = { $n } { $n ->
    [one] Bild oder Objekt fehlt
   *[other] Bilder oder Objekte fehlen
} im PDF: { these_slides }.
conversionWords-warning-pages_blank = { $n } { $n ->
    [one] Seite ist
   *[other] Seiten sind
} leer, obwohl auf der Folie etwas steht: { these_slides }.
conversionWords-warning-text_cut = Text ist am Rand von { $n } { $n ->
    [one] Seite
   *[other] Seiten
} abgeschnitten: { these_slides }.
conversionWords-warning-dates_stand_still = { $n } { $n ->
    [one] Datum oder Uhrzeit ändert
   *[other] Daten oder Uhrzeiten ändern
} sich nicht mehr: { these_slides }.
conversionWords-warning-chosen_slides_ignored = Die Präsentation zeigt nur ausgewählte Folien; das PDF enthält alle, die nicht ausgeblendet sind.
conversionWords-warning-pages_not_read = { $n } { $n ->
    [one] Seite wurde
   *[other] Seiten wurden
} für diesen Bericht nicht gelesen; was dort fehlt, ist nicht bekannt.
conversionWords-warning-contents_not_known = Die Datei konnte für diesen Bericht nicht gelesen werden; was im PDF verloren ist, ist nicht bekannt.
conversionWords-warning-lost = Im PDF verloren: { $parts }.
conversionWords-warning-letters_missing = { $n } { $n ->
    [one] Buchstabe kommt
   *[other] Buchstaben kommen
} in keiner Schrift des Umwandlers vor und { $n ->
    [one] erscheint
   *[other] erscheinen
} als Kästchen: { $letters }
conversionWords-warning-workbooks_not_asked = Diagramme zeigen die Zahlen, die in der Datei stehen; { $n } { $n ->
    [one] Arbeitsmappe wurde
   *[other] Arbeitsmappen wurden
} nicht nach neueren gefragt:
conversionWords-warning-links_not_followed = { $n } { $n ->
    [one] verknüpfte Datei wurde
   *[other] verknüpfte Dateien wurden
} nicht abgerufen:
conversionWords-warning-hyperlinks = { $n } { $n ->
    [one] Verweis führt
   *[other] Verweise führen
} aus der Datei hinaus:
conversionWords-lost-videos = { $n } { $n ->
    [one] Video
   *[other] Videos
}
conversionWords-lost-audios = { $n } { $n ->
    [one] Ton
   *[other] Töne
}
conversionWords-lost-animated_slides = Animation auf { $n } { $n ->
    [one] Folie
   *[other] Folien
}
conversionWords-lost-transitions = Übergänge von { $n } { $n ->
    [one] Folie
   *[other] Folien
}
conversionWords-lost-advancing = selbsttätiger Wechsel von { $n } { $n ->
    [one] Folie
   *[other] Folien
}
conversionWords-alike = { $font }: ersetzt durch { $twin }, jeder Buchstabe gleich breit
conversionWords-firstPage = Erste Seite von { $name }
conversionWords-moreOf = Mehr zu { $name }
conversionWords-rename = Umbenennen…
conversionWords-convertAgain = Neu umwandeln…
conversionWords-original = Original herunterladen
conversionWords-delete = Löschen…
conversionWords-newName = Neuer Name
conversionWords-ask-rename-title = Diese Datei umbenennen
conversionWords-ask-rename-text = {""}
conversionWords-ask-rename-go = Umbenennen
conversionWords-ask-delete-title = Diese Datei löschen?
conversionWords-ask-delete-text = Die Datei und ihr PDF sind endgültig weg. Displays, die sie über ihre Adresse zeigen, finden sie dann nicht mehr.
conversionWords-ask-delete-go = Löschen
conversionWords-ask-again-title = Neu umwandeln?
conversionWords-ask-again-text = Sinnvoll, nachdem Schriften installiert wurden. Bis das neue PDF bereit ist, gilt das bisherige.
conversionWords-ask-again-go = Neu umwandeln
conversionWords-viewer = Hochladen dürfen nur Bediener.
conversionWords-viewerRetry = Neu umwandeln dürfen nur Bediener.
conversionWords-preview = PDF von { $name }
