attentionWords-title = Braucht Aufmerksamkeit
attentionWords-count = { $n } { $n ->
    [one] Display
   *[other] Displays
}{ $told_n ->
    [0] {""}
   *[other] , außer den { $told_n } oben
}
attentionWords-wrong = Was nicht stimmt
attentionWords-did = Bisher unternommen
attentionWords-why = Warum gerade nichts geschieht
attentionWords-showAll = { $n } weitere zeigen
attentionWords-inTable = { $n } weitere: über die Kacheln und die Tabelle unten
attentionWords-crashed = Player abgestürzt
attentionWords-stale = Verstummt, letztes Lebenszeichen
attentionWords-staleNever = Verstummt
attentionWords-mute = Sendet Nachrichten, aber keine Lebenszeichen, das letzte
attentionWords-failed = Dienst { $unit } ausgefallen
attentionWords-screen = { $how ->
    [black] Bildschirm schwarz
    [white] Bildschirm weiß
    [frozen] Bildschirm eingefroren
    [hung] Browser hängt
    [error_page] Fehlerseite
    [no_page] Keine Seite
    [wrong_page] Andere Seite als erwartet
    [off] Bildschirm ungeplant aus
    [disconnected] Bildschirm nicht angeschlossen
   *[other] { $how }
} seit
attentionWords-limit = Grenzwert überschritten: { $passed }, seit
attentionWords-step = { $action }: { SMALL($step) }
attentionWords-nothingYet = Noch nichts
attentionWords-sentLately = Vor Kurzem wurde ein Neustart gesendet
attentionWords-steps = { $n } { $n ->
    [one] Versuch
   *[other] Versuche
}
attentionWords-until = Bis { $time } (noch { $left }).
attentionWords-incident = Teil von Störung { NUMBER($id) }
attentionWords-notUnwell = Hierbei greift die Wiederherstellung nicht ein
attentionWords-heldBack = Wartet mit den anderen, siehe oben.
