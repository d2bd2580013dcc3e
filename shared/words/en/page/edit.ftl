### What people write about displays.

editWords-button = Edit…
editWords-title = Edit the display
editWords-name = Name
editWords-site = Site
editWords-tags = Tags, separated by commas
editWords-notes = Notes
editWords-teamNote = Note for colleagues
editWords-go = Save
editWords-manyButton = Move or tag…
editWords-manyTitle = Move or tag displays
editWords-many = This changes { $n } { $n ->
    [one] display
   *[other] displays
}.
editWords-move = Move them to this site; an empty one means no site
editWords-add = Add tags
editWords-remove = Remove tags
editWords-left = All but these were changed; they are gone, or would have too many tags: { $names }
editWords-woken = No quiet time leaves these alone any more: { $names }
