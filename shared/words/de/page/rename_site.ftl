renameWords-link = { $site } umbenennen …
renameWords-title = { $site } umbenennen
renameWords-how = Displays, Rechte, Kanäle, Ruhezeiten, Zeitpläne und Statusseiten tragen sofort den neuen Namen.
renameWords-to = Neuer Name
renameWords-go = Umbenennen
renameWords-merge = Den Standort { $site } gibt es schon. Beide zu einem machen: Seine Öffnungszeiten gelten. Das lässt sich nicht rückgängig machen.
renameWords-atProvider = Der Anmeldedienst gibt { $n } { $n ->
    [one] Person
   *[other] Personen
} bei der nächsten Anmeldung den alten Namen. Benennen Sie den Standort auch dort um, sonst sehen sie kein Display.
