too_many_unproven = { $unproven } von { $sent } { $sent ->
    [one] Befehl
   *[other] Befehlen
} { $unproven ->
    [one] endete
   *[other] endeten
} ohne Nachweis{ $excused ->
    [0] {""}
   *[other] , davon { $excused } entschuldigt
}, mehr als { $limit }{ $share ->
    [yes] {"\u00A0"}%
   *[no] {""}
}; { $waiting } { $waiting ->
    [one] wurde
   *[other] wurden
} nicht gesendet.
wave_proves_nothing = Keinem Display der Welle { NUMBER($wave) } konnte sein Befehl gesendet werden; sie beweist also nichts.
members_wait = { $members } { $members ->
    [one] Display wartet
   *[other] Displays warten
}: Eine Ruhezeit hält Sammelbefehle { $at_is ->
    [some] bis { at_long } zurück
   *[none] zurück, bis jemand sie beendet
}.

maker_may_not = Das Recht { by_whom }, das zu senden, besteht nicht mehr: { got_nothing }.
not_at_makers_sites = { got_nothing }: an keinem Standort mehr, für den das Recht { by_whom } gilt.
got_nothing = { $displays } { $displays ->
    [one] Display bekam
   *[other] Displays bekamen
} nichts

batch_paused = Angehalten { by_whom }.
batch_aborted = Abgebrochen { by_whom }: { $not_sent } nicht gesendet, { $withdrawn } zurückgezogen.
