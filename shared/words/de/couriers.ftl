receiver_took = Angenommen von { $receiver }
receiver_answered = { NUMBER($status) } von { $receiver }
receiver_gone = { NUMBER($status) } von { $receiver }: Der Empfänger meldet, dass es diese Adresse nicht mehr gibt
receiver_redirects = { NUMBER($status) } von { $receiver }: eine Weiterleitung, und Weiterleitungen wird nicht gefolgt
receiver_forbidden = An diese Adresse darf von hier nicht gesendet werden: Sie bezeichnet den Rechner selbst oder liegt in einem privaten Netz.
receiver_misspelt = Diese Adresse passt nicht zu { $receiver }
receiver_unknown = Der Name { $receiver } ist nicht bekannt
receivers_server_unknown = Der Name des Servers von { $receiver } ist nicht bekannt
receiver_untrusted = Dem Zertifikat von { $receiver } wird nicht vertraut
receiver_without_tls = { $receiver } spricht TLS nicht wie erwartet
receiver_without_tls_or_trust = { $receiver } spricht TLS nicht wie erwartet, oder dem Zertifikat wird nicht vertraut
receiver_without_http = { $receiver } antwortet nicht mit HTTP
receiver_slow = { $receiver } hat nicht rechtzeitig geantwortet
receiver_refused_connection = { $receiver } lehnt die Verbindung ab
receiver_lost = Die Verbindung zu { $receiver } ist abgebrochen
proxy_refused = Der Proxy (OUTBOUND_PROXY) antwortet { NUMBER($status) } auf die Frage nach { $receiver }
proxy_silent = Der Proxy (OUTBOUND_PROXY) antwortet nicht auf die Frage nach { $receiver }
receiver_did_not_take = { $receiver } hat die Nachricht nicht angenommen
channel_switched_off = Der Kanal war ausgeschaltet
over_before_sent = Es war vorbei, bevor es gesendet wurde
given_up = (aufgegeben nach einem Tag und { $tries ->
    [one] { $tries } Versuch
   *[other] { $tries } Versuchen
})
