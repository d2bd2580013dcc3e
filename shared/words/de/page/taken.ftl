takenWords-take = Ich kümmere mich darum
takenWords-takeOf = Ich kümmere mich darum: { $name }
takenWords-mine = Sie kümmern sich seit { $since } darum.
takenWords-theirs = { $who } kümmert sich seit { $since } darum.
takenWords-takeOver = Übernehmen
takenWords-giveBack = Abgeben
takenWords-writeNote = Notiz…
