mendedWords-title = Behobenes quittieren
mendedWords-lead = Diese Displays laufen wieder, und ihre Zustandsmeldungen nennen keinen Ausfall.
mendedWords-left = { $n } { $n ->
    [one] Ausfall bleibt
   *[other] Ausfälle bleiben
}: Das Display ist erneut ausgefallen, oder jemand war schneller.
