tileWords-late = { $n } late
tileWords-hint = { $on ->
    [true] Show all displays again
   *[false] Show only { SMALL($word) }
}

selectionWords-one = Select { $name }
selectionWords-all = Select all listed displays

tableWords-fine = { $n } of { $all_n } { $all_n ->
    [one] screen is
   *[other] screens are
} fine
tableWords-dark = { $n } { $n ->
    [one] site
   *[other] sites
} dark
tableWords-others = { $n } { $n ->
    [one] display needs
   *[other] displays need
} help
tableWords-unknown = { $n } unknown
tableWords-title = Displays
tableWords-name = Display
tableWords-site = Site
tableWords-status = Status
tableWords-heartbeat = Heartbeat
tableWords-day = 24 hours
tableWords-pictures = Pictures
tableWords-version = Version
tableWords-ip = IP
tableWords-reconnects = Reconnects
tableWords-changed = { $n } changed
tableWords-resort = Re-sort
tableWords-nothing = No display matches.
tableWords-csv = Every listed display, as a table
tableWords-failed = service failed
tableWords-mended = failure mended
tableWords-screen = { $how ->
    [disconnected] no screen
    [error_page] error page
    [no_page] no page
    [wrong_page] wrong page
   *[other] screen { $how }
}
tableWords-passed = { $limit ->
    [heat] { NUMBER($n) } °C hot
    [clock] wrong clock
    [voltage] low voltage
    [read_only] disk read-only
    [refused] refuses orders
    [certificate] certificate ends in { NUMBER($n) } d
    [ended] certificate ended
   *[other] { $limit } { NUMBER($n) } % full
}
tableWords-mute = no heartbeats
tableWords-unsteady = unsteady connection
tableWords-unsteadyHow = { $losses_n } losses in the last hour
tableWords-locked = cooling down
tableWords-open = command { SMALL($word) }
tableWords-recent = Recently acknowledged
tableWords-connect = Connect a display
tableWords-nothingYet = Nothing is known about the displays yet. They appear here as soon as the service answers.
