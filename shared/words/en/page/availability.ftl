### How available the displays of a site were in a month.

availabilityWords-title = Availability
availabilityWords-lead = The share of the opening hours in which the player ran. Time of which nothing is known does not count.
availabilityWords-month = Month
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
availabilityWords-unknown = Unknown
availabilityWords-showAll = Show all { NUMBER($n) } sites
availabilityWords-none = There is no display yet.
availabilityWords-noneHere = There is no display at this site.
availabilityWords-failed = The availability could not be loaded.
availabilityWords-was = Available for { $share } of the opening hours of { $month }: { $n } { $n ->
    [one] display
   *[other] displays
}.
availabilityWords-nothing = Nothing is known about { $month }.
availabilityWords-downFor = Down for { $time }, all displays together.
availabilityWords-unknownFor = Nothing is known about { $time }.
availabilityWords-closedFor = Closed for { $time }, which does not count.
availabilityWords-days = Day by day
availabilityWords-day = { $day }: { $share }
availabilityWords-scale = The height of a day is what was missed: a full bar is a tenth of the opening hours or more.
availabilityWords-zone = Days in { $zone }.
