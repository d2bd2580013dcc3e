### The frame of every view: the bar above, its banners, the line below.

frameWords-product = Signage Fleet
frameWords-nav-fleet = Fleet
frameWords-nav-incidents = Incidents
frameWords-nav-quiet = Quiet times
frameWords-nav-availability = Availability
frameWords-nav-batches = Bulk commands
frameWords-nav-logs = Logs
frameWords-nav-conversions = Presentations
frameWords-nav-settings = Settings
frameWords-nav-wall = Wall
frameWords-api = API
frameWords-titled = { $n ->
    [0] { $title }
   *[other] ({ NUMBER($n) }) { $title }
}
frameWords-skip = Skip to content
frameWords-zone = Times in { $zone }
frameWords-signOut = Sign out
frameWords-help = Keyboard shortcuts
frameWords-updating = Live
frameWords-paused = Not updating
frameWords-connecting = Connecting…
frameWords-asOf = as of { $time }
frameWords-roles-viewer = viewer
frameWords-roles-operator = operator
frameWords-roles-admin = admin
frameWords-onlyFor = for { $sites } only
