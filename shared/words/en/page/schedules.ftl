### Commands for later.

displays_n = { $n } { $n ->
    [one] display
   *[other] displays
}

scheduleWords-title = Scheduled commands
scheduleWords-lead = What will be sent, once or weekly. A time that was missed is said here, and not made up for.
scheduleWords-none = Nothing is planned.
scheduleWords-nonePast = Nothing was planned before.
scheduleWords-failed = The scheduled commands could not be loaded.
scheduleWords-plan = Plan commands
scheduleWords-planFor = Plan commands for { displays_n }
scheduleWords-go = Plan it
scheduleWords-planned = Planned. { $words }
scheduleWords-all = All scheduled commands
scheduleWords-past = Show those that are over
scheduleWords-action = What
scheduleWords-whom = For
scheduleWords-site = Site { $site }
scheduleWords-tag = Tag { $tag }
scheduleWords-some = { displays_n }
scheduleWords-matching = displays with { $filter }
scheduleWords-when = When
scheduleWords-once = Once
scheduleWords-weekly = Every week
scheduleWords-at = At (time in { $zone })
scheduleWords-on = On
scheduleWords-time = At
scheduleWords-zone = Time zone
scheduleWords-until = Last day (empty: without end)
scheduleWords-reason = Reason (optional)
scheduleWords-waves = In waves: one display, then 10 %, then the rest; it stops when more than 10 % do not succeed
scheduleWords-type = Type { NUMBER($n) } to continue
scheduleWords-every = every { $days } { $time } { $zone }
scheduleWords-yours = In your zone
scheduleWords-change = Change…
scheduleWords-changeOf = Change: { $what }
scheduleWords-changed = Changed. { $words }
scheduleWords-stays = The command and its displays stay. To change those, cancel it and plan another one.
scheduleWords-save = Save
scheduleWords-cancel = Cancel
scheduleWords-cancelOf = Cancel: { $what }
scheduleWords-cancelled = Cancelled: { $what } will not happen.
scheduleWords-batch = Show the commands
scheduleWords-state-planned = Planned
scheduleWords-state-running = Running
scheduleWords-state-held = Held
scheduleWords-state-done = Done
scheduleWords-state-missed = Missed
scheduleWords-state-cancelled = Cancelled
