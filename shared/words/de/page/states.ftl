statusWords-running = Läuft
statusWords-late = Verspätet
statusWords-stale = Verstummt
statusWords-crashed = Abgestürzt
statusWords-starting = Startet
statusWords-stopped = Gestoppt
statusWords-unknown = Unbekannt
statusWords-screen_failed = Bild gestört
statusWords-limit_passed = Über Grenzwert

statusMeanings-running = Der Player zeigt seine Inhalte.
statusMeanings-late = Ein Lebenszeichen ist überfällig; ein einzelnes fehlendes ist kein Grund zur Sorge.
statusMeanings-stale = Verstummt: Mehrere Lebenszeichen in Folge fehlen.
statusMeanings-crashed = Der Player ist abgestürzt, und sein Wächter hat ihn nicht zurückgeholt.
statusMeanings-starting = Der Player lädt.
statusMeanings-stopped = Der Player wurde absichtlich gestoppt.
statusMeanings-unknown = Noch nichts gehört, die Lebenszeichen fehlen, oder das Display kann es nicht sagen.
statusMeanings-screen_failed = Schwarz, weiß, eingefroren, ohne die richtige Seite, nicht angeschlossen oder ungeplant aus.
statusMeanings-limit_passed = Das Gerät ist über einem Grenzwert.

screenWords-ok = in Ordnung
screenWords-black = schwarzes Bild
screenWords-frozen = eingefrorenes Bild
screenWords-white = weißes Bild
screenWords-hung = Browser hängt
screenWords-error_page = Fehlerseite
screenWords-no_page = keine Seite
screenWords-wrong_page = nicht die erwartete Seite
screenWords-off = aus
screenWords-disconnected = nicht angeschlossen
screenWords-unknown = nicht gemeldet

offByWords-command = aus, durch einen Bediener
offByWords-hours = aus, nach seinen Öffnungszeiten

actionWords-restart_app = Player-Neustart
actionWords-reboot_host = Neustart
actionWords-shutdown_host = Herunterfahren
actionWords-screenshot = Screenshot
actionWords-screen_on = Bildschirm an
actionWords-screen_off = Bildschirm aus

stepWords-queued = Eingereiht
stepWords-sent = Gesendet
stepWords-received = Empfangen
stepWords-running = Läuft
stepWords-succeeded = Gelungen
stepWords-failed = Fehlgeschlagen
stepWords-rejected = Abgelehnt vom Display
stepWords-expired = Verfallen
stepWords-timed_out = Ohne Ergebnis
stepWords-cancelled = Abgebrochen
