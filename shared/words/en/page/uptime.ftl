### The states of one display over time.

uptimeWords-title = Uptime
uptimeWords-range = How far back
uptimeWords-now = now
uptimeWords-days = { $n ->
    [one] 24 h
   *[other] { NUMBER($n) } d
}
uptimeWords-up = Up { $share } of the last { $days_n ->
    [one] 24 hours
   *[other] { NUMBER($days_n) } days
}.
uptimeWords-partly = Known for { $known }: up { $share } of that time. Nothing is known about the rest of the { $days_n ->
    [one] 24 hours
   *[other] { NUMBER($days_n) } days
}.
uptimeWords-unknown = Nothing is known about { $time }.
uptimeWords-upWhileOpen = Up { $share } of the opening hours of the last { $days_n ->
    [one] 24 hours
   *[other] { NUMBER($days_n) } days
}.
uptimeWords-closed = Closed for { $time }, which does not count.
uptimeWords-closedFor = Closed, { $time }
uptimeWords-nothingKnown = Nothing is known about this time.
uptimeWords-calm = Never crashed, never silent in this time.
uptimeWords-calmAsKnown = Never crashed, never silent in the time that is known.
uptimeWords-lasted = for { $time }
uptimeWords-more = and { $n } { $n ->
    [one] more time
   *[other] more times
} before that
uptimeWords-failed = The uptime could not be loaded.
