of_field = { $field }: { $why }.
field_unknown = dieses Feld gibt es nicht
field_missing = dieses Feld fehlt
field_once = erwartet wird genau ein Wert
field_in_calendar = erwartet wird eine Zeit in den Jahren 1 bis 9999 (UTC)
field_before_until = erwartet wird eine Zeit vor dem Ende (until)
field_page_cursor = erwartet wird der next_cursor einer Seite dieser Liste
field_earlier_cursor = erwartet wird der Cursor einer früheren Antwort
field_etag_of_failure = erwartet wird service_failed_at des Ausfalls in Anführungszeichen
field_reason_of_override = wer die Sperre aufhebt, muss einen Grund angeben
field_clients_or_filter = erwartet wird eine Liste von Displays oder ein Filter mit mindestens einem Feld
field_file_size = erwartet wird 1 oder mehr; eine Datei darf nicht leer sein
field_nothing_unless = wird nur angegeben, wenn es um „{ scope_named }“ geht
field_with_scope = muss angegeben werden, wenn es um „{ scope_named }“ geht
field_text = erwartet wird ein Text{ of_characters }
field_form = erwartet wird ein Text nach dem Muster { $pattern }
field_whole_number = erwartet wird eine ganze Zahl{ from_to }
field_number = erwartet wird eine Zahl
field_list = erwartet wird eine Liste{ of_items }
field_object = erwartet wird ein Objekt
field_flag = erwartet wird true oder false
field_one_of = erwartet wird eines von { $choices }
field_date = erwartet wird ein Datum wie 2026-03-01
field_time = erwartet wird eine Zeit mit Zone wie 2026-03-01T12:00:00Z

of_characters = { $most_is ->
    [none] { $least_is ->
        [none] {""}
       *[some] {" "}ab { $least } Zeichen
    }
   *[some] { $least_is ->
        [none] {" "}bis { $most } Zeichen
       *[some] {" "}von { $least } bis { $most } Zeichen
    }
}

from_to = { $most_is ->
    [none] { $least_is ->
        [none] {""}
       *[some] {" "}ab { $least }
    }
   *[some] { $least_is ->
        [none] {" "}bis { $most }
       *[some] {" "}von { $least } bis { $most }
    }
}

least_items = mindestens { $least ->
    [one] { $least } Eintrag
   *[other] { $least } Einträgen
}

most_items = höchstens { $most ->
    [one] { $most } Eintrag
   *[other] { $most } Einträgen
}

of_items = { $most_is ->
    [none] { $least_is ->
        [none] {""}
       *[some] {" "}mit { least_items }
    }
   *[some] { $least_is ->
        [none] {" "}mit { most_items }
       *[some] {" "}mit { least_items } und { most_items }
    }
}

scope_named = { $scope ->
    [site] Standort
    [tag] Schlagwort
    [clients] Displays
   *[fleet] Flotte
}
