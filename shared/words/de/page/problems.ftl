problemWords-refused-command_in_flight = Dieses Display hat schon einen offenen Befehl.
problemWords-refused-not_capable = Dieses Display kann das nach eigener Angabe nicht.
problemWords-refused-forbidden = Ihre Rolle erlaubt das nicht. Vielleicht wurde sie geändert, seit diese Seite offen ist: bitte einen Admin fragen.
problemWords-refused-internal_error = Im Server ist etwas schiefgegangen. Bitte erneut versuchen; geschieht es wieder, bitte der Person melden, die den Server betreibt.
problemWords-refused-api_timeout = Der Server hat nicht rechtzeitig geantwortet. Bitte nachsehen, ob es geschehen ist, bevor Sie es erneut versuchen.
problemWords-unreachable = Der Server antwortet nicht. Bitte gleich noch einmal versuchen.
problemWords-reference = Referenz { $of }.
