### Who is on it.

takenWords-take = I am on it
takenWords-takeOf = I am on it: { $name }
takenWords-mine = You have been on it since { $since }.
takenWords-theirs = { $who } has been on it since { $since }.
takenWords-takeOver = Take it over
takenWords-giveBack = Give it back
takenWords-writeNote = Note…
