editWords-button = Bearbeiten…
editWords-title = Display bearbeiten
editWords-name = Name
editWords-site = Standort
editWords-tags = Schlagwörter, durch Kommas getrennt
editWords-notes = Notizen
editWords-teamNote = Notiz für das Team
editWords-go = Speichern
editWords-manyButton = Standort, Schlagwörter…
editWords-manyTitle = Standort oder Schlagwörter ändern
editWords-many = Das ändert { $n } { $n ->
    [one] Display
   *[other] Displays
}.
editWords-move = Zu diesem Standort umziehen; leer heißt: ohne Standort
editWords-add = Schlagwörter hinzufügen
editWords-remove = Schlagwörter entfernen
editWords-left = Geändert bis auf diese; sie sind weg oder hätten zu viele Schlagwörter: { $names }
editWords-woken = Keine Ruhezeit gilt mehr für: { $names }
