displays_n = { $n } { $n ->
    [one] Display
   *[other] Displays
}

causeWords-title = Was nicht stimmt
causeWords-network = Netz { $subnet }
causeWords-several = Mehrere Standorte
causeWords-some = Mehrere Displays
causeWords-since = seit
causeWords-again = { $n }-mal in 24 Stunden
causeWords-holds = Die Wiederherstellung hält sich zurück: So viele zugleich können unser eigener Fehler sein.
causeWords-acts = Die Wiederherstellung arbeitet an { displays_n }.
causeWords-off = Die automatische Wiederherstellung ist abgeschaltet.
causeWords-show = { $n ->
    [one] Zeigen
   *[other] Die { $n } zeigen
}
causeWords-snooze = Meldepause für den Standort…
causeWords-release = Handeln lassen …
causeWords-story = Was geschehen ist
causeWords-unsteady = Instabile Verbindung: { displays_n }
causeWords-worst = { $name } hat den Broker in der letzten Stunde { $losses_n }-mal verloren. Vermutlich liegt es am Netz dort.
causeWords-worstOf = Jedes hat den Broker in der letzten Stunde mindestens dreimal verloren, { $name } { $losses_n }-mal. Vermutlich liegt es an den Netzen dort.
causeWords-shared = Zwei Geräte mit einem Login: { displays_n }
causeWords-sharedWhy = Jedes der beiden Geräte kann einen Befehl erhalten; darum lässt die Wiederherstellung das Display in Ruhe. Ein neuer Code für eines davon beendet das.
causeWords-andMore = und { $n } weitere
causeWords-mended = Seit { $since } hat die Wiederherstellung { $n } { $n ->
    [one] Ausfall
   *[other] Ausfälle
} behoben.
