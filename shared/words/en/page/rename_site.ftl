### The dialog that renames a site.

renameWords-link = Rename { $site }…
renameWords-title = Rename { $site }
renameWords-how = Displays, rights, channels, quiet times, schedules and status pages bear the new name at once.
renameWords-to = New name
renameWords-go = Rename
renameWords-merge = There is a site { $site }. Make both one: its opening hours hold. This cannot be undone.
renameWords-atProvider = The sign-in service gives { $n } { $n ->
    [one] person
   *[other] people
} the old name at the next sign-in. Rename the site there, too, or they will see no display.
