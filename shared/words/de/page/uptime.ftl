uptimeWords-title = Laufzeit
uptimeWords-range = Wie weit zurück
uptimeWords-now = jetzt
uptimeWords-days = { $n ->
    [one] 24{"\u00A0"}Std.
   *[other] { NUMBER($n) }{"\u00A0"}Tage
}
uptimeWords-up = Lief { $share } der letzten { $days_n ->
    [one] 24 Stunden
   *[other] { NUMBER($days_n) } Tage
}.
uptimeWords-partly = Bekannt sind { $known } der letzten { $days_n ->
    [one] 24 Stunden
   *[other] { NUMBER($days_n) } Tage
}: Davon lief es { $share }. Über den Rest ist nichts bekannt.
uptimeWords-unknown = Für { $time } ist nichts bekannt.
uptimeWords-upWhileOpen = Lief { $share } der Öffnungszeiten der letzten { $days_n ->
    [one] 24 Stunden
   *[other] { NUMBER($days_n) } Tage
}.
uptimeWords-closed = { $time } war geschlossen; das zählt nicht.
uptimeWords-closedFor = Geschlossen, { $time }
uptimeWords-nothingKnown = Über diese Zeit ist nichts bekannt.
uptimeWords-calm = In dieser Zeit nie abgestürzt, nie verstummt.
uptimeWords-calmAsKnown = In der bekannten Zeit nie abgestürzt, nie verstummt.
uptimeWords-lasted = { $time } lang
uptimeWords-more = und davor { $n } { $n ->
    [one] weiteres Mal
   *[other] weitere Male
}
uptimeWords-failed = Die Laufzeit konnte nicht geladen werden.
