### The page of quiet times, its form, and what the panel of a display says of them.

displays_n = { $n } { $n ->
    [one] display
   *[other] displays
}

quietTimesWords-title = Quiet times
quietTimesWords-lead = Leave displays alone for a while: no automatic restarts, no messages, bulk commands wait, or the screen may be off. A person's own command always goes.
quietTimesWords-which = Which quiet times
quietTimesWords-current = Current
quietTimesWords-past = Past
quietTimesWords-preset = Kind
quietTimesWords-all = All kinds
quietTimesWords-add = Add a quiet time
quietTimesWords-none = Nothing is quiet, and nothing is planned.
quietTimesWords-nonePast = No quiet time is over yet.
quietTimesWords-noneOf = No quiet time matches.
quietTimesWords-failed = The quiet times could not be loaded.
quietTimesWords-ofDisplay = Only those about { $name }
quietTimesWords-ofAll = Show all
quietTimesWords-state-on = On now
quietTimesWords-state-planned = Planned
quietTimesWords-state-over = Over
quietTimesWords-state-ended = Ended
quietTimesWords-presets-hold = Hold
quietTimesWords-presets-snooze = Snooze
quietTimesWords-presets-maintenance = Maintenance
quietTimesWords-presets-opening_hours = Opening hours
quietTimesWords-presets-leave_out = Leave out
quietTimesWords-presets-custom = Other
quietTimesWords-meaning-hold = Recovery sends nothing while somebody works on it.
quietTimesWords-meaning-snooze = No messages go out. What is still wrong when it ends is sent then.
quietTimesWords-meaning-maintenance = Recovery sends nothing, no messages go out, and bulk commands wait.
quietTimesWords-meaning-opening_hours = Outside of these hours the shop is closed: screens may be off, recovery waits, no messages go out. Availability counts opening hours only.
quietTimesWords-meaning-leave_out = Recovery leaves it alone until somebody ends that.
quietTimesWords-meaning-custom = You choose what is quiet.
quietTimesWords-what-recovery = no automatic restarts
quietTimesWords-what-notices = no messages
quietTimesWords-what-screen = the screen may be off
quietTimesWords-what-commands = bulk commands wait
quietTimesWords-fleet = The whole fleet
quietTimesWords-tag = Tag { $tag }
quietTimesWords-displays = { displays_n }
quietTimesWords-until = until
quietTimesWords-untilEnded = until somebody ends it
quietTimesWords-from = from
quietTimesWords-endedBy = ended by { $who }
quietTimesWords-open = Open { $week }
quietTimesWords-weekly = Each week { $week }
quietTimesWords-edit = Change…
quietTimesWords-end = End
quietTimesWords-endOf = End { SMALL($preset) } of { $whom }
quietTimesWords-editOf = Change { SMALL($preset) } of { $whom }

quietEndWords-title = End this quiet time?
quietEndWords-text = { $n ->
    [one] It ends at once, for one display.
   *[other] It ends at once, for all { $n } displays that it is about.
}
quietEndWords-none = It ends at once. No display is covered by it now.
quietEndWords-go = End it

quietFormWords-addTitle = Add a quiet time
quietFormWords-editTitle = Change: { $preset }
quietFormWords-kind = What
quietFormWords-whom = About
quietFormWords-scope-fleet = The whole fleet
quietFormWords-scope-site = A site
quietFormWords-scope-tag = A tag
quietFormWords-scope-clients = Some displays
quietFormWords-site = Site
quietFormWords-tag = Tag
quietFormWords-find = Find displays
quietFormWords-chosen = { displays_n } chosen
quietFormWords-moreFound = { $n } more: type more of the name
quietFormWords-quiet = What is quiet
quietFormWords-how = For how long
quietFormWords-hours = { $n ->
    [72] 3 days
    [168] A week
    [one] 1 hour
   *[other] { $n } hours
}
quietFormWords-openEnd = Until somebody ends it
quietFormWords-at = Until a time…
quietFormWords-from = From (empty: now)
quietFormWords-until = Until
quietFormWords-untilOptional = Until (empty: open end)
quietFormWords-untilHere = Until (your time, { $zone })
quietFormWords-yourTime = In your time: { $zone }.
quietFormWords-weekly = Only at some hours of the week
quietFormWords-openingHours = Open at
quietFormWords-weeklyHours = Quiet at
quietFormWords-zone = Time zone of these hours
quietFormWords-zoneOwn = { $zone } (your own)
quietFormWords-closedAllDay = closed
quietFormWords-notThatDay = not on this day
quietFormWords-begins = { $day }, times { NUMBER($n) }, from
quietFormWords-ends = { $day }, times { NUMBER($n) }, to
quietFormWords-addTimes = Add
quietFormWords-addTimesTo = Add times on { $day }
quietFormWords-removeTimes = Remove times { NUMBER($n) } of { $day }
quietFormWords-nights = { NUMBER($n) } nights later
quietFormWords-copy = Monday's times to Tuesday–Friday
quietFormWords-reason = Reason
quietFormWords-reasonOptional = Reason (optional)
quietFormWords-go = Make it quiet
quietFormWords-save = Save
quietFormWords-editThat = Change those

quietPreviewWords-space = {" "}
quietPreviewWords-whole = the whole fleet ({ displays_n })
quietPreviewWords-place = { $name } ({ displays_n })
quietPreviewWords-tag = the tag { $tag } ({ displays_n })
quietPreviewWords-nobody = Choose whom it is about.
quietPreviewWords-nothing = Choose what is quiet.
quietPreviewWords-noHours = Give at least one day its hours.
quietPreviewWords-noEnd = Say until when.
quietPreviewWords-sentence = { $what } for { $whom }, { $when }.
quietPreviewWords-now = from now
quietPreviewWords-from = from { $time }
quietPreviewWords-until = until { $time } ({ $zone })
quietPreviewWords-untilEnded = until somebody ends it
quietPreviewWords-outside = outside of { $week } ({ $zone })
quietPreviewWords-within = each week { $week } ({ $zone })
quietPreviewWords-openNow = Open now, closes { $at }.
quietPreviewWords-alwaysOpen = Always open.
quietPreviewWords-closedNow = Closed now, opens { $at }.
quietPreviewWords-alwaysClosed = Always closed.
quietPreviewWords-onNow = On now, until { $at }.
quietPreviewWords-alwaysOn = Always on.
quietPreviewWords-onNext = Next: { $at }.

clientQuietWords-title = Quiet times
clientQuietWords-nothing = Nothing is quiet for this display now.
clientQuietWords-failed = What is quiet for this display could not be loaded.
clientQuietWords-hold = Hold…
clientQuietWords-snooze = Snooze…
clientQuietWords-leaveOut = Leave out…
clientQuietWords-maintenance = Maintenance…
clientQuietWords-all = All quiet times of this display

quietRefusalWords-nouns-ends_at = the end
quietRefusalWords-nouns-starts_at = the start
quietRefusalWords-nouns-time_zone = the time zone
quietRefusalWords-nouns-opening_hours = opening hours
quietRefusalWords-nouns-leave_out = “Leave out”
