secondFactorWords-title = Zweiter Faktor
secondFactorWords-off = Sie melden sich nur mit Ihrem Passwort an.
secondFactorWords-on = Sie melden sich mit Ihrem Passwort und einem Code aus Ihrer App an, seit
secondFactorWords-left = { $n ->
    [one] Ein Ersatzcode ist übrig.
   *[other] { $n } Ersatzcodes sind übrig.
}
secondFactorWords-begin = Zweiten Faktor einrichten…
secondFactorWords-remove = Zweiten Faktor entfernen…
secondFactorWords-setUp = Zweiten Faktor einrichten
secondFactorWords-what = Sie brauchen eine App, die Codes erzeugt: einen Authenticator oder Passwortmanager. Von da an gehört deren Code zu Ihrer Anmeldung.
secondFactorWords-next = Weiter
secondFactorWords-password = Bisheriges Passwort
secondFactorWords-code = Code
secondFactorWords-qr = Das Geheimnis der App als QR-Code
secondFactorWords-scan = Dies mit der App scannen.
secondFactorWords-typed = Oder dies dort eingeben:
secondFactorWords-copySecret = Geheimnis kopieren
secondFactorWords-first = Die sechs Ziffern, die die App jetzt zeigt.
secondFactorWords-either = Die sechs Ziffern, die die App jetzt zeigt, oder ein Ersatzcode.
secondFactorWords-confirm = Einschalten
secondFactorWords-codes = Ersatzcodes
secondFactorWords-once = Jetzt aufbewahren: Sie werden nicht noch einmal gezeigt.
secondFactorWords-keep = Jeder gilt einmal anstelle eines Codes, falls Sie Ihr Telefon verlieren. Am besten bei wichtigen Unterlagen aufbewahren. Ohne Telefon und Ersatzcodes kann ein Admin Ihren zweiten Faktor zurücksetzen.
secondFactorWords-kept = Ich habe sie aufbewahrt
secondFactorWords-copyCodes = Ersatzcodes kopieren
secondFactorWords-removeTitle = Zweiten Faktor entfernen?
secondFactorWords-removeText = Zum Anmelden genügt dann Ihr Passwort. Ihre anderen Sitzungen enden.
secondFactorWords-removeGo = Entfernen
secondFactorWords-pageTitle = Zweiten Faktor einrichten
secondFactorWords-why = Personen mit Ihrer Rolle melden sich mit Passwort und einem Code aus einer App an. Bitte einrichten, bevor es weitergeht.
