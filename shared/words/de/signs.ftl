refused_was = { $n ->
    [one] war
   *[other] waren
}
refused_became = { $n ->
    [one] wurde
   *[other] wurden
}
refused_why = { $reason ->
    [unknown_topic] { refused_became } an ein unbekanntes Topic gesendet
    [bad_uuid] { refused_became } unter einer falschen UUID gesendet
    [too_large] { refused_was } zu groß
    [not_utf8] { refused_was } kein UTF-8
    [not_json] { refused_was } kein JSON
    [not_an_object] { refused_was } kein JSON-Objekt
    [too_deep] { refused_was } zu tief verschachtelt
    [bad_number] { refused_was } unbrauchbar wegen einer Zahl außerhalb des Bereichs
    [bad_field] { refused_was } unbrauchbar wegen eines Feldes
    [unsupported_version] { refused_was } von einer Version, die nicht unterstützt wird
    [unknown_client] { refused_became } gesendet, als das Display nicht aufgenommen war
    [refused_by_database] { refused_became } durch einen Fehler dieses Servers nicht gespeichert
   *[other] { refused_became } aus einem anderen Grund abgelehnt
}
refused_messages = { $kind ->
    [heartbeat] Lebenszeichen
    [health] { $n ->
        [one] Zustandsbericht
       *[other] Zustandsberichte
    }
    [logs] { $n ->
        [one] Protokollzeile
       *[other] Protokollzeilen
    }
    [service_failed] { $n ->
        [one] Dienstausfall
       *[other] Dienstausfälle
    }
    [presence] { $n ->
        [one] Nachricht zur Broker-Sitzung
       *[other] Nachrichten zur Broker-Sitzung
    }
    [acks] { $n ->
        [one] Antwort auf einen Befehl
       *[other] Antworten auf Befehle
    }
   *[other] { $n ->
        [one] Nachricht
       *[other] Nachrichten
    }
}
messages_refused = { $n } { refused_messages } { refused_why }

heartbeats_missing = Seine Nachrichten kommen, seine Lebenszeichen nicht: { $refused_is ->
    [empty] bitte nachsehen, was der Broker ihm zu senden erlaubt und ob es sie sendet
   *[some] { $refused }
}.
heartbeats_refused = { $n } { $first ->
    [yes] davon{" "}
   *[no] {""}
}{ refused_why }
