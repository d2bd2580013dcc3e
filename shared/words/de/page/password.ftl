passwordWords-title = Eigenes Passwort setzen
passwordWords-why = Ihr erstes Passwort wurde erzeugt. Bitte ein eigenes setzen, bevor es weitergeht.
passwordWords-current = Bisheriges Passwort
passwordWords-fresh = Neues Passwort
passwordWords-go = Passwort setzen
passwordWords-going = Wird gesetzt…
passwordWords-wrong = Das bisherige Passwort ist falsch.
