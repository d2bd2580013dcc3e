there = { $site_is ->
    [some] {" "}dort
   *[none] {""}
}
at_site_are = { $site_is ->
    [some] Am Standort { $site } sind{" "}
   *[none] {""}
}
are = { $site_is ->
    [some] {""}
   *[none] {" "}sind
}

breaker_open = { at_site_are }{ $stale } von { $seen } { $seen ->
    [one] Display
   *[other] Displays
}{ are } verstummt: So viele zugleich können unser eigener Fehler sein. Verstummte Displays werden{ there } erst neu gestartet, wenn weniger als { $percent }{"\u00A0"}% verstummt sind oder ein Bediener die Sicherung freigibt.
breaker_closing = So viele Displays waren{ $site_is ->
    [some] {" "}am Standort { $site }
   *[none] {""}
} zugleich verstummt, dass es unser eigener Fehler gewesen sein kann; jetzt sind es wenige genug. Verstummte Displays werden{ there } erst neu gestartet, wenn das seit { seconds_long } so ist oder ein Bediener die Sicherung freigibt.
breaker_closed = { breaker } hält nichts mehr zurück: Es sind wenige genug verstummt.
breaker_released = { breaker } wurde { by_whom } freigegeben; was vorher verstummt ist, zählt nicht mehr.
breaker = Die Sicherung { of_what }
of_what = { $site_is ->
    [some] von { $site }
   *[none] der Flotte
}

screens_open = { at_site_are }{ $failing } von { $telling } { $telling ->
    [one] Bildschirm
   *[other] Bildschirmen
}{ are } leer, eingefroren oder ohne ihre Seite: Wenn es so viele zugleich sind, liegt es an dem, was sie zeigen sollen, oder am Strom. Kein Player wird{ there } wegen seines Bildschirms neu gestartet, bis es weniger sind oder ein Bediener die Sicherung freigibt.
screens_closed = { screens_breaker } hält nichts mehr zurück: Es sind wenige genug gestört.
screens_released = { screens_breaker } wurde { by_whom } freigegeben; Bildschirme, die vorher gestört waren, zählen nicht mehr.
screens_breaker = Die Sicherung für die Bildschirme { of_what }

more_sites_held = { $sites ->
    [one] { $sites } weiterer Standort wird
   *[other] { $sites } weitere Standorte werden
} ebenfalls zurückgehalten.
