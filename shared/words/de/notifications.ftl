fleet_unheard = Wir hören die Flotte nicht
fleet_unheard_recovery = Die Wiederherstellung tut nichts, bis wir die Flotte wieder hören.
place_fails = { told_displays }{ place_where } { $keeps ->
    [yes] { $displays ->
        [one] fällt
       *[other] fallen
    } immer wieder aus{ place_times }
   *[no] { $displays ->
        [one] ist
       *[other] sind
    }{ place_again } gemeinsam ausgefallen{ place_times }
}
place_where = { $kind ->
    [site] {" "}am Standort { $key }
    [subnet] {" "}im Subnetz { $key }{ $site_is ->
        [some] {" "}von { $site }
       *[none] {""}
    }
   *[cluster] { $sites ->
        [0] {""}
        [1] {""}
       *[other] {" "}an { $sites } Standorten
    }
}
place_again = { $times ->
    [0] {""}
    [1] {""}
   *[other] {" "}wieder
}
place_times = { $times ->
    [0] {""}
    [1] {""}
   *[other] {" "}({ $times }-mal in 24 Stunden)
}
all_back = { $displays ->
    [one] Es ist wieder da.
   *[other] Alle { $displays } sind wieder da.
}
display_unwell = { $display } { $what ->
    [stale] ist verstummt
    [crashed] ist abgestürzt
    [screen] hat einen Bildschirm, der { $screen ->
        [black] schwarz ist
        [frozen] eingefroren ist
        [white] weiß ist
        [hung] einen Browser zeigt, der hängt
        [error_page] eine Fehlerseite zeigt
        [no_page] keine Seite zeigt
        [wrong_page] eine andere Seite als erwartet zeigt
        [disconnected] nicht angeschlossen ist
        [off] aus ist
       *[other] gestört ist
    }
    [service] hat einen ausgefallenen Dienst ({ $unit })
   *[unknown] ist gestört
}{ $suspended ->
    [yes] : Die Wiederherstellung hat alles versucht
   *[no] {""}
}
screen_fails = { $display }: { $screen ->
    [off] Der Bildschirm ist aus, und niemand hat das geplant
   *[other] { recovery_screen }
}
limit_passed = { $limit ->
    [disk] Datenträger von { $display } ist zu { $value }{"\u00A0"}% voll; der Grenzwert ist { $limit_at }{"\u00A0"}%
    [memory] Speicher von { $display } ist zu { $value }{"\u00A0"}% voll; der Grenzwert ist { $limit_at }{"\u00A0"}%
    [heat] { $display } ist { $value }{"\u00A0"}°C heiß; der Grenzwert ist { $limit_at }{"\u00A0"}°C
    [certificate] Die Zertifizierungsstelle, der { $display } vertraut, { $is_over ->
        [yes] ist abgelaufen
       *[no] läuft in { seconds_long } ab
    }; Grenzwert: { $limit_at } Tage
    [clock] Uhr von { $display } geht { told_span } { $is_fast ->
        [yes] vor
       *[no] nach
    }; Grenzwert: { $limit_at } Sekunden
    [voltage] Netzteil von { $display } gab seit dem Gerätestart einmal zu wenig Spannung
    [read_only] Datenträger von { $display } nimmt nichts an; das Display lehnt deshalb Befehle ab
   *[refused] { $display } nimmt eine Vorgabe nicht an; welche und warum, steht auf seiner Seite
}
connection_unsteady = { $display }: instabile Verbindung, in der letzten Stunde { $losses }-mal verloren
login_shared = { $display }: Zwei Geräte verwenden sein Login
login_shared_cause = Jedes von beiden kann einen Befehl bekommen, deshalb lässt die Wiederherstellung das Display in Ruhe. Ein neuer Verbindungscode für eines davon beendet das.
breaker_holds = Die Wiederherstellung hält sich zurück{ $site_is ->
    [some] {" "}am Standort { $site }
   *[none] {""}
}
site_still_named = { $things ->
    [one] Ein Eintrag nennt
   *[other] { $things } Einträge nennen
} noch { $site }, wo kein Display mehr ist
names_site = { $things } { $what ->
    [person] { $things ->
        [one] Person hat dort Rechte
       *[other] Personen haben dort Rechte
    }
    [token] { $things ->
        [one] Token hat dort Rechte
       *[other] Tokens haben dort Rechte
    }
    [channel] { $things ->
        [one] Kanal bekommt Meldungen von dort
       *[other] Kanäle bekommen Meldungen von dort
    }
    [quiet_time] { $things ->
        [one] Ruhezeit
       *[other] Ruhezeiten
    }
    [schedule] { $things ->
        [one] geplanter Befehl
       *[other] geplante Befehle
    }
    [status_link] { $things ->
        [one] Statusseite
       *[other] Statusseiten
    }
   *[pictures_off] { $things ->
        [one] Bilderverbot
       *[other] Bilderverbote
    }
}
things_to_move = { $things }. Bitte jedem davon einen anderen Standort geben, oder dem Standort seine Displays.
not_converted = { $file } ließ sich nicht umwandeln
certificate_ends = { $door ->
    [displays] Das Zertifikat, das Displays sehen,
   *[people] Das Zertifikat des Dashboards
} { $seconds_is ->
    [some] läuft innerhalb von { seconds_long } ab
   *[none] ist abgelaufen
}
certificate_end = { $has_ended ->
    [yes] Es lief am { told_at } ab
   *[no] Es läuft am { told_at } ab
}. { $door ->
    [people] Browser warnen dann vor dem Dashboard
   *[displays] Dann verbindet sich kein Display mehr
}, bis dort ein erneuertes zu sehen ist.
told_at = { $at_day }.{ $at_month }.{ NUMBER($at_year) }, { $at_clock } Uhr ({ $at_zone })
recovery_does = { $state ->
    [off] Die automatische Wiederherstellung ist aus
    [due] Die Wiederherstellung greift gleich ein
    [in_flight] Ein Befehl der Wiederherstellung ist unterwegs
    [verifying] Die Wiederherstellung wartet auf einen Nachweis, ob es gestört ist
    [locked] Die Wiederherstellung wartet, bis die Zeit nach dem letzten Neustart vorbei ist
    [suspended] Die Wiederherstellung hat alles versucht: Jemand muss eingreifen
    [unreachable] Das Display ist nicht verbunden, deshalb kann die Wiederherstellung nichts tun
    [blocked_bridge] Die Wiederherstellung wartet, bis wir die Flotte hören
    [blocked_breaker] Die Wiederherstellung hält sich zurück: So viele zugleich können unser eigener Fehler sein
    [held] Die Wiederherstellung lässt es in Ruhe, wie ihr gesagt wurde
   *[not_recovered] Die Wiederherstellung hat nichts, was das Display tun könnte
}
recovery_counted = { $displays } × { SMALL($what) }
recovery_about = { $what }.
got_worse = Schlimmer: { $title }
got_over = Vorbei: { $title }
trouble_since = Seit { told_at }, schon { told_span }.
trouble_lasted = Es dauerte { told_span }.
trouble_was = Es war: { $cause }
displays_affected = { $displays } Displays sind betroffen: { $names }{ $more ->
    [0] {""}
   *[other] {" "}und { $more } weitere
}.
looks_after = { told_who } kümmert sich darum.
looked_after = { told_who } hat sich darum gekümmert.
told_who = { $by_kind ->
    [nobody] Jemand
    [display] Das Display
    [service] Der Server
    [recovery] Die Wiederherstellung
   *[person] { $by }
}
many_troubles = { $displays } Displays { $is_over ->
    [yes] { $event ->
        [service_failed] haben keinen ausgefallenen Dienst mehr
        [screen_bad] haben wieder ein gutes Bild
        [limit_passed] sind wieder innerhalb ihrer Grenzwerte
        [login_shared] haben wieder ein Login für nur ein Gerät
       *[other] sind wieder in Ordnung
    }
   *[no] { $event ->
        [service_failed] haben einen ausgefallenen Dienst
        [screen_bad] haben einen gestörten Bildschirm
        [limit_passed] sind über einem Grenzwert
        [connection_unsteady] haben eine instabile Verbindung
        [login_shared] haben ein Login, das zwei Geräte verwenden
       *[other] sind gestört
    }
}
and_more = und { $more } weitere
channel_trial = Test von Signage Fleet
channel_tried = { told_who } hat den Kanal „{ $channel }“ ausprobiert. Alles ist in Ordnung.
daily_report = Tagesbericht: { $unwell ->
    [0] { $displays ->
        [0] keine Displays
        [one] das Display ist in Ordnung
       *[other] alle { $displays } Displays sind in Ordnung
    }
   *[other] { $unwell } von { told_displays } gestört
}
told_displays = { $displays } { $displays ->
    [one] Display
   *[other] Displays
}
unwell_so = { $displays } { $how ->
    [silent] verstummt
    [crashed] abgestürzt
   *[failing] mit gestörtem Dienst oder Bildschirm
}
site_now = { site_named }: { $unwell }, von { told_displays }.
site_named = { $site_is ->
    [some] { $site }
   *[none] Ohne Standort
}
more_sites = und { $more } weitere Standorte
displays_resting = { told_displays } planmäßig aus.
last_day = Letzte 24 Stunden: { $incidents } { $incidents ->
    [one] Störung
   *[other] Störungen
}.
past_incident = { $cause }{ $is_over ->
    [yes] {" "}(vorbei)
   *[no] {""}
}
more_incidents = und { $more } weitere Störungen
recovery_did = Die Wiederherstellung { $restarts ->
    [0] { $reboots ->
        [0] hatte nichts zu tun
       *[other] hat { rebooted }
    }
   *[other] hat { restarted }{ $reboots ->
        [0] {""}
       *[other] {" "}und { rebooted }
    }
}.
restarted = { $restarts ->
    [one] einmal
   *[other] { $restarts }-mal
} einen Player neu gestartet
rebooted = { $reboots ->
    [one] einmal
   *[other] { $reboots }-mal
} ein Gerät neu gestartet
known_told = { $known_is ->
    [some] {" "}({ $known })
   *[none] {""}
}
known_for = bekannt: { told_span }{ each_of }
each_of = { $several ->
    [yes] {" "}je Display im Mittel
   *[no] {""}
}
weekly_report = Wochenbericht: Verfügbarkeit { percent_told }{ known_told }
percent_told = { $percent_is ->
    [some] { $percent },{ $tenths }{"\u00A0"}%
   *[none] unbekannt
}
week_of = { $begins } bis { $ends }, in den Öffnungszeiten.
site_week = { site_named }: { percent_told }{ $seconds_is ->
    [some] , { told_span }{ each_of } ausgefallen
   *[none] {""}
}{ known_told }.
sites_left_out = Auf der Seite { $sites ->
    [one] steht { $sites } weiterer Standort
   *[other] stehen { $sites } weitere Standorte
}: So viele Displays passen nicht in eine Meldung.
told_span = { $seconds_n } { $seconds_unit ->
    [day] { $seconds_n ->
        [one] Tag
       *[other] Tage
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
