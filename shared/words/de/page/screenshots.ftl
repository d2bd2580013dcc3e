screenshotWords-title = Bildschirm
screenshotWords-wall = Bilder der Bildschirme
screenshotWords-take = Screenshot aufnehmen
screenshotWords-taking = Das Bild des Displays wird erwartet…
screenshotWords-none = Noch kein Bild.
screenshotWords-taken = Aufgenommen
screenshotWords-before = vor dem Ausfall
screenshotWords-beforeFailure = Die letzten Bilder vor dem Ausfall
screenshotWords-beforeFailures = Bildschirme vor ihrem Ausfall
screenshotWords-earlier = Frühere Bilder
screenshotWords-alt = Bildschirm von { $name }, { $time }
screenshotWords-show = Bild von { $time } zeigen
screenshotWords-notCapable = Dieses Display sendet keine Bilder seines Bildschirms.
screenshotWords-off = Die Bildschirme von { $site } darf niemand sehen. Ein Admin kann das ändern.
screenshotWords-noSite = Displays ohne Standort
screenshotWords-hide = Bildschirme von { $site } niemandem zeigen
screenshotWords-hideSure = Ihre Bilder löschen und keine mehr aufnehmen
screenshotWords-allow = Bildschirme von { $site } den Bedienern zeigen
screenshotWords-cause-screenshots_off = Die Bildschirme dieses Standorts darf niemand sehen.
screenshotWords-cause-screenshot_not_wanted = Das Bild kam zu spät.
screenshotWords-failed = Die Bilder konnten nicht geladen werden.
screenshotWords-newPictures = Neue Bilder
screenshotWords-came = { $n } von { $all_n } { $all_n ->
    [one] Bild
   *[other] Bildern
} { $n ->
    [one] ist
   *[other] sind
} da
screenshotWords-and = { $first }, { $next }
screenshotWords-progress = { $words }.
screenshotWords-part-unable = { $n } { $n ->
    [one] Display kann
   *[other] Displays können
} keines senden
screenshotWords-part-hidden = { $n } { $n ->
    [one] Bildschirm darf
   *[other] Bildschirme dürfen
} nicht gesehen werden
screenshotWords-part-away = { $n } { $n ->
    [one] Display ist
   *[other] Displays sind
} nicht verbunden
screenshotWords-part-silent = { $n } { $n ->
    [one] Display hat
   *[other] Displays haben
} nicht geantwortet
screenshotWords-part-failed = { $n } { $n ->
    [one] Aufnahme ist
   *[other] Aufnahmen sind
} misslungen
screenshotWords-part-waiting = { $n } { $n ->
    [one] kommt
   *[other] kommen
} noch
screenshotWords-step-unable = Kann keines senden
screenshotWords-step-hidden = Darf nicht gesehen werden
screenshotWords-step-away = Nicht verbunden
screenshotWords-step-silent = Keine Antwort
screenshotWords-step-failed = Misslungen
screenshotWords-step-waiting = Ein neues ist unterwegs…
