finderWords-region = Displays suchen
finderWords-search = Name, Standort, Status, Dienst…
finderWords-searchLabel = Displays suchen
finderWords-found = { $more ->
    [true] mindestens{" "}
   *[false] {""}
}{ $every ->
    [true] {""}
   *[false] { $n } von{" "}
}{ $all_n } { $all_n ->
    [one] Display
   *[other] Displays
}
finderWords-without = Filter { $part } entfernen
finderWords-tag = Schlagwort { $tag }
finderWords-incident = Störung { $id }
finderWords-unsteady = Instabile Verbindung
finderWords-clear = Filter aufheben

shopWords-title = Standorte
shopWords-none = Ohne Standort
shopWords-well = { $n ->
    [one] in Ordnung
   *[other] alle { $n } in Ordnung
}
shopWords-are = { $n } von { $all_n } { $how ->
    [stale] verstummt
    [crashed] abgestürzt
    [bad] gestört
   *[other] { $how }
}
shopWords-more = +{ $n }
shopWords-all = Alle { $n } Standorte zeigen
shopWords-tags = Schlagwörter
shopWords-allTags = Alle { $n } Schlagwörter zeigen
