recoveryWords-state-off = Die Wiederherstellung ist aus
recoveryWords-state-due = Greift bald ein
recoveryWords-state-in_flight = Ein Befehl ist unterwegs
recoveryWords-state-verifying = Wartet auf einen Nachweis
recoveryWords-state-locked = Wartezeit nach dem letzten Befehl
recoveryWords-state-suspended = Ausgesetzt, bis jemand eingreift
recoveryWords-state-unreachable = Das Display ist nicht verbunden
recoveryWords-state-blocked_bridge = Die Bridge schweigt
recoveryWords-state-blocked_breaker = Zu viele fallen zugleich aus
recoveryWords-state-held = In Ruhe gelassen
recoveryWords-state-not_recovered = Wird nicht automatisch wiederhergestellt
recoveryWords-mute = Es wird nichts gesendet: Das Display sendet noch Nachrichten
recoveryWords-well = Diesem Display geht es gut; es gibt nichts wiederherzustellen.
recoveryWords-never = Es hat noch kein Lebenszeichen gesendet; es gibt nichts wiederherzustellen.
recoveryWords-tried = Bisher versucht: { $restarts_n } { $restarts_n ->
    [one] Player-Neustart
   *[other] Player-Neustarts
}, { $reboots_n } { $reboots_n ->
    [one] Neustart
   *[other] Neustarts
} des Geräts.
recoveryWords-resume = Wiederherstellung fortsetzen
