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
