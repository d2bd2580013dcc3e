# Titel je HTTP-Status
status_400 = Ungültige Anfrage
status_401 = Nicht angemeldet
status_403 = Nicht erlaubt
status_404 = Nicht gefunden
status_405 = Methode nicht erlaubt
status_406 = Kein passendes Format
status_409 = Im jetzigen Zustand nicht möglich
status_412 = Inzwischen geändert
status_413 = Zu groß
status_414 = Adresse zu lang
status_415 = Nicht unterstützte Art
status_416 = Bereich außerhalb der Datei
status_422 = Von einer Regel abgelehnt
status_423 = Gesperrt
status_429 = Zu viele Anfragen
status_500 = Interner Fehler
status_503 = Vorübergehend nicht verfügbar
status_507 = Medienlaufwerk nicht verfügbar

# Die Anfrage
invalid_field = Ein Feld ist nicht wie erwartet.
bad_request = Die Anfrage ist nicht zu verstehen.
malformed_json = Die Anfrage ist kein gültiges JSON.
body_must_be_object = Die Anfrage muss ein JSON-Objekt sein.
body_must_be_json = Die Anfrage muss JSON sein, gesendet als Content-Type: application/json.
body_must_be_form = Die Anfrage muss multipart/form-data sein, mit der Datei im Feld file.
body_must_be_part = Teile einer Datei werden als Content-Type: { $content_type } gesendet.
body_must_be_picture = Ein Bild wird als Content-Type: { $content_type } gesendet.
body_too_large = Die Anfrage ist größer als hier erlaubt.
body_over_limit = Die Anfrage darf hier höchstens { $limit_bytes } Bytes haben.
body_longer_than_file = Die Anfrage ist länger als der Rest der Datei.
form_too_large = Das Formular um die Datei herum ist zu groß.
content_length_odd = Content-Length ist keine Zahl.
uri_too_long = Die Adresse der Anfrage ist zu lang.
path_unknown = Unter dieser Adresse ist nichts.
method_unknown = Diese Adresse kennt diese Methode nicht; der Header Allow nennt die bekannten.
not_acceptable = Die Antwort gibt es in keinem der gewünschten Formate.
range_not_satisfiable = Der verlangte Bereich liegt außerhalb der Datei.
precondition_failed = Es hat sich inzwischen geändert; bitte noch einmal nachsehen.
protocol_unknown = Teilweises Hochladen spricht Version 1.0.0 von tus: Der Header Tus-Resumable muss das sagen.
idempotency_key_reused = Dieser Idempotency-Key wurde schon mit einer anderen Anfrage verwendet.
not_found = Mit dieser Nummer gibt es nichts.
state_conflict = Der jetzige Zustand erlaubt das nicht.
refused = Eine Regel lässt diese Anfrage nicht zu.
internal_error = Im Server ist etwas schiefgegangen; bitte bei einer Meldung die Nummer der Anfrage nennen.
database_unavailable = Die Datenbank antwortet gerade nicht; bitte gleich noch einmal versuchen.
task_queue_unavailable = Die Auftragswarteschlange ist nicht erreichbar.
authority_unreadable = DISPLAYS_CA_FILE kann nicht gelesen werden ({ $error }).

# Anmelden, Rechte
invalid_identity = Der Nachweis, wer Sie sind, wurde nicht anerkannt.
sign_in_or_send_token = Bitte anmelden, oder ein API-Token als Authorization: Bearer senden.
only_bearer = Anerkannt wird nur Authorization: Bearer mit einem API-Token.
name_or_password_wrong = Name oder Passwort ist falsch.
rights_changed = Ihre Rechte haben sich geändert; bitte neu anmelden.
no_admin_any_more = Sie sind kein Admin mehr; bitte neu anmelden.
display_or_password_wrong = Das Display oder sein Passwort ist falsch.
display_login_missing = Bitte UUID und Passwort des Displays als Authorization: Basic senden.
forbidden = Ihre Rolle erlaubt das nicht.
role_needed = Dafür ist die Rolle { role_wanted } nötig; Ihre ist { role_held }.
site_not_allowed = Ihre Rechte gelten nur für bestimmte Standorte; dies reicht darüber hinaus.
person_unknown = Ihre E-Mail-Adresse ist hier noch nicht bekannt; bitte einen Admin, Sie unter ihr hinzuzufügen.
email_unknown = { $email } darf diesen Server noch nicht benutzen; bitte einen Admin, Sie unter dieser Adresse hinzuzufügen.
groups_left_out = Ihre Gruppen sind dem Anmeldedienst zu viele zum Senden; wer ihn verwaltet, kann stattdessen App-Rollen senden.
no_role_at_provider = Der Anmeldedienst kennt Sie, gibt Ihnen hier aber keine Rolle; bitte fragen, wer ihn verwaltet.
no_site_at_provider = Der Anmeldedienst gibt Ihnen hier eine Rolle, aber keinen Standort; bitte fragen, wer ihn verwaltet.
too_many_sites_at_provider = Der Anmeldedienst gibt Ihnen { $sites } Standorte; möglich sind hier { $most }.
denied_by_provider = Der Anmeldedienst hat Sie nicht eingelassen.
provider_unavailable = Der Anmeldedienst antwortet gerade nicht, wie er soll; bitte noch einmal versuchen, oder mit Passwort anmelden.
no_provider = Hier meldet man sich mit Passwort an; es ist kein Anmeldedienst eingerichtet (SSO_ISSUER).
try_over = Diese Anmeldung begann in einem anderen Browser oder vor zu langer Zeit, oder sie ist schon fertig; bitte neu anmelden.
person_disabled = Ihr Konto ist hier deaktiviert; bitte einen Admin fragen.
cross_site_request = Eine Änderung mit dem Sitzungscookie braucht den Header X-Requested-With: signage und muss von unseren Seiten kommen.
origin_of_another_site = Der Header Origin nennt nicht diesen Server.
request_of_another_site = Der Browser sagt, dass diese Anfrage von einer anderen Website kommt.
password_change_required = Bitte zuerst ein neues Passwort setzen.
second_factor_required = Das Passwort stimmt; nun fehlt der Code: die sechs Ziffern Ihrer App oder ein Ersatzcode.
second_factor_wrong = Der Code ist falsch, schon verwendet oder nicht mehr gültig.
second_factor_setup_required = Bitte zuerst einen zweiten Faktor einrichten.
second_factor_unknown = Es gibt keinen zweiten Faktor.
second_factor_stands = Es gibt schon einen zweiten Faktor; bitte zuerst diesen entfernen.
signing_key_missing = Ein zweiter Faktor braucht die Einstellung SIGNING_KEY; sie ist hier nicht gesetzt.
too_many_attempts = Zu viele Fehlversuche; bitte vor dem nächsten warten.
password_changed_lately = Ein Display ändert sein Passwort höchstens einmal in der Minute.
signed_in_at_provider = Sie haben sich beim Anmeldedienst angemeldet; Passwort und zweiter Faktor sind dort.
signed_in_by_proxy = Der Proxy vor diesem Server hat Sie angemeldet; Passwort und Abmelden sind dort.
for_people_only = Das ist für angemeldete Personen; ein API-Token endet durch DELETE /api/tokens/<id>.
password_changed_elsewhere = Das Passwort wurde inzwischen anderswo geändert; bitte neu anmelden.
password_not_accepted = Das neue Passwort ist zu kurz, leicht zu erraten oder das bisherige.
password_length = Ein Passwort hat { $shortest } bis { $longest } Zeichen.
password_as_before = Das neue Passwort ist das bisherige.
password_guessed = Dieses Passwort würde man als eines der ersten versuchen: Es besteht fast nur aus häufigen Wörtern, dem eigenen Namen, Jahreszahlen, Wiederholungen oder Nachbarn auf der Tastatur. Bitte eigene Wörter hinzufügen.
password_leaked = Dieses Passwort steht in einer Liste bekannt gewordener Passwörter; Angreifer versuchen sie zuerst.
session_not_found = Keine Ihrer Sitzungen hat diese Nummer, oder sie ist beendet.
site_exists = Es gibt einen Standort mit diesem Namen. Geben Sie an, dass beide zusammengelegt werden, oder wählen Sie einen anderen Namen.
site_not_found = An diesem Standort ist kein Display, und auch sonst trägt nichts seinen Namen.
token_not_found = Es gibt kein API-Token mit dieser Nummer.
expiry_in_the_past = Die Zeit, zu der dies abliefe, ist schon vorbei.
expiry_too_far = Ein Token gilt höchstens zehn Jahre; für eines ohne Ende bitte keine Zeit angeben.
user_not_found = Es gibt keine Person mit dieser Nummer.
username_taken = Dieser Name ist schon vergeben, vielleicht in anderer Groß- und Kleinschreibung.
last_admin = Das ist der letzte Admin, der sich anmelden kann; zuerst muss ein anderer Admin ein eigenes Passwort setzen.
another_username = Das Konto hat einen anderen Benutzernamen als angegeben; es wurde nichts geändert.
own_account = An Ihrem eigenen Konto muss das ein anderer Admin tun.

# Displays, Befehle
client_not_found = Es gibt kein Display mit dieser UUID.
clients_unknown = Einige dieser Displays gibt es nicht.
some_clients_unknown = { $count ->
    [one] Eines dieser Displays gibt es nicht.
   *[other] { $count } dieser Displays gibt es nicht.
}
client_deleted = Dieses Display wurde gelöscht; seine UUID wird nicht wieder verwendet.
client_not_listening = Dieses Display ist nicht verbunden und hat die Nachricht nicht bekommen; bitte erneut versuchen, wenn es online ist.
enrolment_code_invalid = Dieser Verbindungscode ist ungültig, schon verwendet oder abgelaufen; bitte einen neuen holen.
failure_changed = Das Display ist noch einmal ausgefallen, seit diese Seite geladen wurde; bitte zuerst den neuen Ausfall ansehen.
not_capable = Dieses Display kann das nach eigener Angabe nicht.
command_not_found = Es gibt keinen Befehl mit dieser Nummer.
command_in_flight = Dieses Display hat schon einen offenen Befehl; bitte warten, bis er endet, oder ihn zurückziehen.
command_locked_out = Diesem Display wurde kürzlich ein Neustart gesendet; es ist gesperrt, bis es Zeit hatte zurückzukommen.
command_not_cancellable = Der Befehl ist vielleicht schon beim Display angekommen und lässt sich nicht mehr zurückziehen.
ttl_out_of_range = ttl_seconds muss von { $least } bis { $most } sein.
command_batch_not_found = Es gibt keinen Sammelbefehl mit dieser Nummer.
command_batch_over = Der Sammelbefehl ist vorbei; er lässt sich nicht mehr anhalten, fortsetzen oder abbrechen.
invalid_waves = Wellen sind bis zu 20 Zahlen oder Anteile wie 10{"\u00A0"}%, mit rest am Ende; die Grenze ist eine Zahl oder ein Anteil.
no_clients = Auf kein Display trifft das zu; es gibt nichts zu senden.
too_many_clients = Ein Sammelbefehl hat höchstens 10.000 Displays; bitte den Filter enger fassen.
filter_unknown = Diese Version kennt keinen Filter nach { $names }.
status_link_not_found = Es gibt keinen Link zu einer Statusseite mit dieser Nummer.
status_link_invalid = Dieser Link ist nicht gültig.
incident_not_found = Es gibt keine Störung mit dieser Nummer.
screenshot_not_found = Es gibt kein Bild mit dieser Nummer.
expectation_not_found = Es gibt keine Erwartung mit dieser Nummer.
screenshot_not_wanted = Niemand wartet auf dieses Bild: Es wurde nicht verlangt, das ist vorbei, oder es ist kein Ausfall bekannt.
screenshot_too_large = Ein Bild darf höchstens { $limit_bytes } Bytes haben.
screenshots_off = Niemand darf die Bildschirme dieses Standorts sehen; ein Admin kann das ändern.
jpeg_incomplete = Die Anfrage ist kein vollständiges JPEG.
broker_unavailable = Der MQTT-Broker ist nicht erreichbar.
broker_unreachable = Der MQTT-Broker ist nicht erreichbar ({ $error }).
broker_busy = Andere Nachrichten haben die Verbindung zum Broker belegt.
broker_silent = Der MQTT-Broker hat auf die Verbindung nicht geantwortet.
broker_refused_connection = Der MQTT-Broker hat die Verbindung abgelehnt (Grund { $reason }).
broker_refused_message = Der MQTT-Broker hat die Nachricht abgelehnt (Grund { $reason }).
broker_without_qos = Der MQTT-Broker kann nur QoS 0.
no_time_to_publish = Zum Senden blieb keine Zeit.
publish_unanswered = Der MQTT-Broker hat auf diese Nachricht nicht geantwortet; sie kann trotzdem noch ankommen.

# Geplante Befehle, Ruhezeiten
schedule_not_found = Es gibt keinen geplanten Befehl mit dieser Nummer.
already_taken = { $by } kümmert sich schon darum.
nothing_to_take = Es ist vorbei: Hier gibt es nichts mehr zu tun.
schedule_over = Der geplante Befehl ist vorbei: Es kommt kein weiteres Mal.
schedule_times_refused = Ein geplanter Befehl kann diese Zeiten nicht haben.
schedule_once_or_weekly = Ein geplanter Befehl ist entweder einmalig oder wöchentlich.
schedule_local_time = Die Uhrzeit muss eine Zeit des Tages wie 03:00 sein.
schedule_until_too_far = Der letzte Tag muss innerhalb von fünf Jahren liegen.
schedule_has_no_time = Bis zum letzten Tag bleibt kein Mal übrig.
schedule_once_takes_no_weekly = Uhrzeit und letzter Tag gehören zu Wochentagen, nicht zu einem einmaligen Befehl.
schedule_at_in_future = Der Zeitpunkt muss in der Zukunft liegen, innerhalb von fünf Jahren.
schedule_stays_as_it_is = Ein geplanter Befehl bleibt einmalig oder wöchentlich: bitte absagen und einen neuen planen.
too_many_schedules = So viele geplante Befehle stehen noch bevor, dass keiner mehr dazukommen kann; bitte zuerst welche absagen.
time_zone_unknown = Diese Zeitzone gibt es nicht.
zone_unknown = Die Zeitzone „{ $name }“ gibt es nicht; bitte eine wie Europe/Rome angeben.
quiet_time_not_found = Es gibt keine Ruhezeit mit dieser Nummer.
quiet_time_over = Die Ruhezeit ist vorbei, oder jemand hat sie beendet; bitte eine neue anlegen.
quiet_times_refused = Eine Ruhezeit kann diese Zeiten, diesen Grund oder diese Auswahl nicht haben.
quiet_start_too_far = Der Beginn muss innerhalb von fünf Jahren liegen.
quiet_hours_need_zone = Zeiten und Zeitzone gehören zusammen.
quiet_end_before_start = Das Ende muss nach dem Beginn liegen.
quiet_end_in_past = Das Ende muss in der Zukunft liegen.
quiet_end_too_far = Das Ende muss innerhalb von fünf Jahren liegen.
quiet_too_long = { preset_named } dauert höchstens { $days } Tage.
quiet_only_of_custom = Was ruht, wird nur bei „Eigene“ gewählt, und dort immer.
quiet_needs_reason = { preset_named } braucht einen Grund.
quiet_needs_end = { preset_named } braucht ein Ende, damit nichts Vergessenes weiterläuft.
quiet_takes_no_hours = { preset_named } hat keine wöchentlichen Zeiten.
quiet_clock = „{ $text }“ ist keine Uhrzeit wie 09:30.
quiet_hours_need_days = Jede Zeit braucht einen Wochentag.
quiet_hours_length = Wöchentliche Zeiten enden nach ihrem Beginn, innerhalb von { $days } Tagen.
quiet_has_begun = Der Beginn lässt sich nicht ändern: Sie hat schon begonnen.
leave_out_has_no_end = „Ausnehmen“ hat kein Ende: Es dauert, bis jemand es beendet; „In Arbeit“ kann eines haben.
opening_hours_of_many = Öffnungszeiten gelten für die Flotte, einen Standort oder ein Schlagwort.
opening_hours_need_hours = Öffnungszeiten brauchen mindestens eine Zeit.
opening_hours_exist = Für diese Displays gibt es schon Öffnungszeiten; bitte diese ändern.
too_many_opening_hours = Öffnungszeiten haben höchstens { $most } Zeiten.
opening_hours_need_days = Jede Zeit der Öffnungszeiten nennt ihre Tage, jeden einmal.
opening_hours_are_times = Öffnungszeiten sind Uhrzeiten wie 08:00; das Ende darf 24:00 sein.
opening_hours_have_length = Öffnungszeiten enden zu einer anderen Zeit, als sie beginnen; ein ganzer Tag ist 00:00 bis 24:00.

# Dateien
event_media_not_found = Es gibt kein Medium mit dieser Nummer.
event_media_file_missing = Die Datei ist verzeichnet, liegt aber nicht auf dem Medienlaufwerk.
conversion_not_found = Dieses Medium wurde nicht umgewandelt.
converted_path_unknown = Unter diesem Pfad gibt es kein PDF.
converted_file_missing = Das PDF ist verzeichnet, liegt aber nicht auf dem Medienlaufwerk; bitte erneut umwandeln lassen.
thumbnail_not_found = Von diesem Medium gibt es kein Bild der ersten Seite: Es ist keine Präsentation, oder noch nicht umgewandelt.
not_convertible = Nur Präsentationen lassen sich in PDF umwandeln.
not_a_presentation = Der Inhalt der Datei ist keine Präsentation der Art, die ihr Name nennt.
presentation_damaged = Die Präsentation ist beschädigt.
presentation_packed_oddly = Die Präsentation ist so gepackt, wie es ihr Format nicht erlaubt.
presentation_has_doctype = Die Präsentation enthält eine Dokumenttypdefinition.
encrypted = Die Präsentation ist durch ein Passwort geschützt; bitte ohne Passwort speichern und noch einmal hochladen.
too_large_unpacked = Die Präsentation ist ausgepackt zu groß.
presentation_has_too_many_parts = Die Präsentation hat mehr als { $most } Teile.
presentation_too_large = Ausgepackt hat die Präsentation mehr als { $gibibytes } GiB.
presentation_too_deep = Die Präsentation verschachtelt Elemente tiefer als { $most } Ebenen, oder hat mehr als { $millions } Millionen davon.
presentation_part_too_large = Ausgepackt hat ein Teil der Präsentation mehr als { $mebibytes } MiB.
presentation_picture_too_large = Ein Bild der Präsentation hat mehr als { $megapixels } Megapixel.
picture_has_too_many_pixels = Das Bild hat mehr als { $megapixels } Megapixel.
name_not_accepted = Eine Datei braucht einen Namen, den Menschen lesen können.
no_slides = Die Präsentation hat keine Folien.
every_slide_hidden = Alle Folien dieser Präsentation sind ausgeblendet.
unsupported_media_type = Dateien dieser Art werden nicht angenommen.
export_keynote = Bitte die Keynote-Datei als PowerPoint exportieren und diese hochladen.
accepted_names = Angenommen werden Dateien mit der Endung { $accepted }.
content_is_another = Der Name der Datei sagt { $kind }, ihr Inhalt aber nicht.
pdf_without_end = Das PDF hat kein Ende: Es ist abgeschnitten oder kein PDF.
picture_without_size = Das Bild hat keine Größe: Es ist abgeschnitten oder kein Bild.
upload_too_large = Die Datei ist größer, als hochgeladen werden darf.
file_too_large = Eine Datei darf höchstens { $limit_bytes } Bytes haben.
upload_cut_off = Das Hochladen endete zu früh oder war fehlerhaft; es wurde nichts gespeichert.
upload_without_name = Die hochgeladene Datei hat keinen Namen.
one_file_at_a_time = Immer nur eine Datei: Das Formular hat eine zweite; es wurde nichts gespeichert.
file_field_missing = Die Datei muss im Formularfeld file stehen.
upload_filename_odd = Upload-Metadata: der Dateiname ist kein UTF-8 in Base64.
upload_filename_missing = Upload-Metadata muss den Dateinamen (filename) enthalten.
upload_not_found = Diesen Upload gibt es nicht: Er wurde beendet oder nicht innerhalb eines Tages fertig.
upload_offset_conflict = Der Upload geht bei einem anderen Byte weiter.
upload_locked = Die Teile werden gerade zusammengefügt, oder eine andere Anfrage schreibt; bitte den Stand erfragen und dort weitermachen.
upload_part_lost = Das Medienlaufwerk hat einen Teil dieser Datei verloren; bitte die Datei noch einmal hochladen.
too_many_requests = Zu viele Anfragen auf einmal; bitte gleich noch einmal versuchen.
busy = Zu viele andere Anfragen laufen gerade; bitte gleich noch einmal versuchen.
too_many_uploads = Gerade wird anderes hochgeladen; bitte gleich noch einmal versuchen.
volume_full = Das Medienlaufwerk ist voll oder nicht beschreibbar; es wurde nichts gespeichert.

# Kanäle für Meldungen
channel_not_found = Es gibt keinen Kanal mit dieser Nummer.
channel_name_taken = Ein anderer Kanal heißt schon so.
channel_address_refused = Ein Kanal kann diese Adresse nicht haben.
channel_refused = Diese Einstellungen passen nicht zu einem Kanal.
apprise_refused = Apprise versteht diese Adresse nicht, oder sie führt nicht zu Menschen.
apprise_address = Eine Adresse von Apprise beginnt mit ihrem Dienst, etwa mailto:// oder slack://.
webhook_address = Die Adresse eines Webhooks ist http:// oder https:// mit einem Host.
channel_hours_need_weekday = Seine Zeiten brauchen einen Wochentag.
only_webhooks_signed = Nur Nachrichten an einen Webhook werden signiert.
signing_secret_short = Das Geheimnis zum Signieren muss mindestens { $shortest } Zeichen haben.

role_wanted = { $needed ->
    [viewer] Betrachter
    [operator] Bediener
   *[admin] Admin
}

role_held = { $role ->
    [viewer] Betrachter
    [operator] Bediener
   *[admin] Admin
}

preset_named = „{ $preset ->
    [hold] In Arbeit
    [snooze] Meldepause
    [maintenance] Wartung
    [opening_hours] Öffnungszeiten
    [leave_out] Ausnehmen
   *[custom] Eigene
}“
