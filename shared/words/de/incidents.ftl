failed_together = { failed_where } { failed_verb } { failed_within } { failed_how }{ $place }; { failed_why }.
failed_where = { $members }{ $size_is ->
    [some] {" "}von { $size } { $size ->
        [one] Display
       *[other] Displays
    }
   *[none] {" "}{ $members ->
        [one] Display
       *[other] Displays
    }
}{ $kind ->
    [site] {" "}am Standort { $key }
    [subnet] {" "}im Netz { $key }{ $site_is ->
        [some] {" "}am Standort { $site }
       *[none] {""}
    }
   *[cluster] { $sites ->
        [0] {""}
        [1] {""}
       *[other] {" "}an { $sites } Standorten
    }
}
failed_verb = { $ways_n ->
    [1] { $symptom ->
        [silent] { failed_are }
        [crashed] { failed_are }
       *[other] { $members ->
            [one] hat
           *[other] haben
        }
    }
   *[other] { failed_are }
}
failed_are = { $members ->
    [one] ist
   *[other] sind
}
failed_within = { $seconds_n ->
    [0] zugleich
   *[other] innerhalb von { seconds_long }
}
failed_how = { $ways_n ->
    [1] { $symptom ->
        [silent] verstummt
        [crashed] abgestürzt
        [service_failed] { $unit_is ->
            [some] den Ausfall von { $unit } gemeldet
           *[none] einen Dienstausfall gemeldet
        }
        [disconnected] den Broker verloren und { failed_are } zurückgekommen
       *[screen_failed] { $members ->
            [one] sein
           *[other] ihr
        } Bild verloren{ $screen ->
            [black] {" "}(Bildschirm schwarz)
            [frozen] {" "}(Bild eingefroren)
            [white] {" "}(Bildschirm weiß)
            [hung] {" "}(Browser hängt)
            [error_page] {" "}(Fehlerseite)
            [no_page] {" "}(keine Seite)
            [wrong_page] {" "}(andere Seite als erwartet)
            [disconnected] {" "}(Bildschirm nicht angeschlossen)
            [off] {" "}(Bildschirm ausgeschaltet)
           *[other] {""}
        }
    }
   *[other] ausgefallen ({ $ways })
}
failed_why = { $likely ->
    [time] gemeinsam ist ihnen nur der Zeitpunkt
   *[other] wahrscheinlich liegt es { $likely ->
        [screens] am Strom der Bildschirme, oder jemand hat sie ausgeschaltet
        [content] an dem, was sie zeigen sollen, oder an einer Aktualisierung
        [shared] an einem gemeinsamen Anbieter, am Weg zum Broker oder am Broker selbst
        [network] am Netz oder am Strom dort
       *[short_break] an einer kurzen Unterbrechung des Netzes dort
    }
}

failed_so = { $displays } { $symptom ->
    [silent] verstummt
    [crashed] abgestürzt
    [service_failed] mit ausgefallenem Dienst
    [disconnected] kurz ohne Verbindung
   *[screen_failed] mit gestörtem Bildschirm
}
most_at = , { $among ->
    [yes] darunter
   *[no] und zwar
} { $whole ->
    [yes] alle { $size }
   *[no] { $members } von { $size }
} { $kind ->
    [site] am Standort { $key }
   *[subnet] im Netz { $key }
}

fleet_not_heard = Wir hören die Flotte nicht: Die Bridge schweigt seit { at_long }. Die Displays laufen vielleicht trotzdem.
other_sites_too = Zur gleichen Zeit sind Displays anderer Standorte ausgefallen.

part_of_another = Von hier an Teil von Störung { NUMBER($id) }.
has_part = Störung { NUMBER($id) } ({ $kind ->
    [site] Standort
    [subnet] Netz
    [cluster] mehrere Standorte
   *[listening] bei uns
}{ $key_is ->
    [some] {" "}{ $key }
   *[empty] {""}
}) erwies sich als Teil von dieser.
failed_again = Kurz darauf kam es erneut zum Ausfall.
fleet_heard_again = Wir hören die Flotte wieder.
all_well_again = Allen Displays geht es wieder gut.
displays_failed = { displays_n } ausgefallen
displays_well = { displays_n } wieder in Ordnung
is_on_it = { $by } kümmert sich darum.
took_over = { $by } hat von { $was } übernommen.
gave_back = { $by } hat abgegeben.
command_asked = { command_name }: für { displays_n } angefordert { by_whom }{ $reason_is ->
    [some] { command_reason }
   *[none] {""}
}
command_name = { $action ->
    [restart_app] Player-Neustart
    [reboot_host] Neustart
    [shutdown_host] Herunterfahren
    [screenshot] Screenshot
    [screen_on] Bildschirm an
    [screen_off] Bildschirm aus
   *[other] { $action }
}
recovery_waits = Die Wiederherstellung greift bei { displays_n } nicht ein:
recovery_acts = Die Wiederherstellung greift bei { displays_n } ein ({ command_name }):
