as_given = { $text }
in_turn = { $sentences }

# Nach „vor“, „nach“ und „seit“
seconds_long = { $seconds_n } { $seconds_unit ->
    [day] { $seconds_n ->
        [one] Tag
       *[other] Tagen
    }
    [hour] { $seconds_n ->
        [one] Stunde
       *[other] Stunden
    }
    [minute] { $seconds_n ->
        [one] Minute
       *[other] Minuten
    }
   *[second] { $seconds_n ->
        [one] Sekunde
       *[other] Sekunden
    }
}

by_whom = { $by_kind ->
    [nobody] von jemandem
    [display] vom Display
    [service] vom Server
    [recovery] von der Wiederherstellung
   *[person] von { $by }
}

at_long = { at_weekday }, { $at_day }. { at_month } { NUMBER($at_year) } um { $at_clock } Uhr ({ $at_zone })
at_weekday = { $at_weekday ->
    [1] Montag
    [2] Dienstag
    [3] Mittwoch
    [4] Donnerstag
    [5] Freitag
    [6] Samstag
   *[7] Sonntag
}
at_month = { $at_month ->
    [1] Januar
    [2] Februar
    [3] März
    [4] April
    [5] Mai
    [6] Juni
    [7] Juli
    [8] August
    [9] September
    [10] Oktober
    [11] November
   *[12] Dezember
}
displays_n = { $displays } { $displays ->
    [one] Display
   *[other] Displays
}
