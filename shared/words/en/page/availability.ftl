### How available the displays of sites were in a period.

availabilityWords-title = Availability
availabilityWords-lead = The share of the opening hours in which the player ran. Time of which nothing is known does not count.
availabilityWords-period = Period
availabilityWords-weeks = Weeks
availabilityWords-months = Months
availabilityWords-thisWeek = This week, so far
availabilityWords-lastWeek = Last week
availabilityWords-first = First day
availabilityWords-last = Last day
availabilityWords-soFar = { $month }, so far
availabilityWords-print = Print
availabilityWords-csv = This list, as a table
availabilityWords-sites = Sites
availabilityWords-all = All sites
availabilityWords-site = Site
availabilityWords-displays = Displays
availabilityWords-display = Display
availabilityWords-share = Available
availabilityWords-down = Down
availabilityWords-downEach = Down per display
availabilityWords-unknown = Unknown
availabilityWords-unknownEach = Unknown per display
availabilityWords-known = { $n ->
    [one] known for { $time }
   *[other] known for { $time } each
}
availabilityWords-none = There is no display yet.
availabilityWords-noneHere = There is no display at this site.
availabilityWords-failed = The availability could not be loaded.
availabilityWords-was = Available for { $share } of the opening hours of { $period }: { $n } { $n ->
    [one] display
   *[other] displays
}.
availabilityWords-nothing = Nothing is known about { $period }.
availabilityWords-knownEach = { $n ->
    [one] Known for { $time }.
   *[other] Known for { $time } each, on average.
}
availabilityWords-downFor = { $n ->
    [one] Down for { $time }.
   *[other] Down for { $time } each, on average.
}
availabilityWords-unknownFor = { $n ->
    [one] Nothing is known about { $time }.
   *[other] Nothing is known about { $time } each, on average.
}
availabilityWords-closedFor = { $n ->
    [one] Closed for { $time }, which does not count.
   *[other] Closed for { $time } each, on average, which does not count.
}
availabilityWords-days = Day by day
availabilityWords-day = { $day }: { $share }
availabilityWords-scale = The height of a day is what was missed: a full bar is a tenth of the opening hours or more.
availabilityWords-zone = Days in { $zone }.
