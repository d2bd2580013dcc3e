pages_expected = { $any_page ->
    [yes] Sie passt auf jede Seite.
   *[no] { $seen ->
        [0] Kein Display dort meldet jetzt seine Seite.
       *[other] { $matching ->
            [0] Sie passt auf keines der jetzt sichtbaren Displays ({ $seen }).
           *[other] Sie passt auf { $matching } von { $seen } jetzt sichtbaren Displays.
        }
    }
}
