quietNowWords-how-maintenance = In Wartung
quietNowWords-how-opening_hours = Geschlossen
quietNowWords-how-hold = In Arbeit
quietNowWords-how-leave_out = Ausgenommen
quietNowWords-how-snooze = Ohne Meldungen
quietNowWords-how-custom = In Ruhe
quietNowWords-until = {" "}bis { $time }
quietNowWords-by = , von { $who }
quietNowWords-cuts = Es unterbricht eine Ruhezeit: { $what }.
quietNowWords-waiting = { $n } { $n ->
    [one] Display ist
   *[other] Displays sind
} in einer Ruhezeit, in der Sammelbefehle warten: Sie warten bis zu deren Ende.

quietBannerWords-fleet = Die ganze Flotte
quietBannerWords-text = { $whom }: { SMALL($word) }.
quietBannerWords-many = { $n } { $n ->
    [one] Standort ist
   *[other] Standorte sind
} in Wartung.
quietBannerWords-endOf = Wartung beenden: { $whom }
quietBannerWords-all = Ruhezeiten
