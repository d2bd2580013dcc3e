### What the pages say of a fleet that is too large to be listed whole.

largeWords-unwell = The table lists the displays that need help most. Choose a site or a state above, or search, to list others.
largeWords-search = In a fleet of this size the search looks at names, ids, sites, host names and addresses.
largeWords-first = { $n } of those that match are listed. A command for all that are listed goes only to these.
largeWords-more = List { $n } more
largeWords-failed = The displays could not be loaded.
largeWords-wall = { $n } { $n ->
    [one] more site needs
   *[other] more sites need
} help
largeWords-wallWell = { $n } { $n ->
    [one] more site is
   *[other] more sites are
} well
largeWords-pick = This fleet is large: the list has the displays that the fleet page has listed.
