quiet_time = { $how }, { by_whom }{ $reason_is ->
    [some] {" "}({ $reason })
   *[empty] {""}
}: { $quiet }.
quiet_how = { $preset ->
    [hold] In Arbeit
    [snooze] Ohne Meldungen
    [maintenance] In Wartung
    [opening_hours] Geschlossen nach den Öffnungszeiten
    [leave_out] Ausgenommen
   *[custom] In Ruhe
}
quiet_what = { $quiet ->
    [recovery] keine automatischen Neustarts
    [notices] keine Meldungen
    [screen] der Bildschirm darf aus sein
   *[commands] Sammelbefehle warten
}
nothing_quiet = Für dieses Display ist jetzt nichts in Ruhe.

goes_although = Es unterbricht eine Ruhezeit: { $quiet }.
quiet_by = { SMALL($how) } ({ by_whom })
quiet_and = { $before } und { $last }

nobody_at_site = Am Standort { $site } ist noch kein Display.
nobody_with_tag = Noch kein Display hat das Schlagwort „{ $tag }“.
nobody_covered = Zurzeit ist kein Display betroffen.
