tokenWords-title = Zugriffstoken
tokenWords-lead = Für Skripte und Maschinen. Jedes Token hat eine Rolle, wird einmal gezeigt und lässt sich jederzeit widerrufen.
tokenWords-none = Es wurde noch kein Token ausgestellt.
tokenWords-failed = Die Zugriffstoken konnten nicht geladen werden.
tokenWords-name = Wofür es ist
tokenWords-role = Rolle
tokenWords-expires = Läuft ab
tokenWords-expiry = { $n ->
    [0] nie
    [365] nach einem Jahr
   *[other] nach { $n } Tagen
}
tokenWords-issue = Token ausstellen
tokenWords-issuing = Wird ausgestellt…
tokenWords-issued = Jetzt kopieren: Es wird nicht noch einmal gezeigt.
tokenWords-copy = Token kopieren
tokenWords-lastUsed = zuletzt benutzt
tokenWords-neverUsed = nie benutzt
tokenWords-byService = vom Server
tokenWords-ends = läuft ab
tokenWords-noEnd = läuft nicht ab
tokenWords-ended = Abgelaufen
tokenWords-revoked = Widerrufen
tokenWords-revoke = Widerrufen
tokenWords-revokeOf = Token { $name } widerrufen
tokenWords-revokeTitle = Dieses Token widerrufen?
tokenWords-revokeWhy = Was es verwendet, wird ab jetzt abgelehnt. Das lässt sich nicht rückgängig machen.
