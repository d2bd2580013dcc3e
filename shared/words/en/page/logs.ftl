### What displays log.

logWords-title = Logs
logWords-recent = Recent errors
logWords-lead = Errors and critical messages of the whole fleet, newest first. Choose a display to see everything that it logs.
logWords-of = Logs of { $name }
logWords-all = All displays
logWords-open = Open the display
logWords-whoTitle = Who logs most
logWords-who = Search display
logWords-whoNone = No display sent a log line in this time.
logWords-whoMore = { $n } more: search for a name
logWords-errors = { $n } { $n ->
    [one] error
   *[other] errors
}
logWords-warnings = { $n } { $n ->
    [one] warning
   *[other] warnings
}
logWords-lines = { $n } { $n ->
    [one] line
   *[other] lines
}
logWords-total = { $what } from { $n } { $n ->
    [one] display
   *[other] displays
}.
logWords-live = Live
logWords-liveOn = Following: new lines appear automatically
logWords-livePaused = Paused while you read further down
logWords-liveOff = Not following
logWords-debugFor = Log debug for { NUMBER($n) } minutes
logWords-debugTelling = Telling the display…
logWords-debugTold = The display was told to log debug until { $time }.
logWords-levelNow = Logs { SMALL($word) } and above
logWords-hours = Last { $n ->
    [one] hour
   *[other] { $n } hours
}
logWords-days = Last { $n } days
logWords-range = Time range
logWords-levels = Levels
logWords-level-debug = Debug
logWords-level-info = Info
logWords-level-warning = Warning
logWords-level-error = Error
logWords-level-critical = Critical
logWords-search = Search in messages
logWords-none = No log matches.
logWords-noneRecent = No errors in this time.
logWords-newer = Show { $n } { $n ->
    [one] newer line
   *[other] newer lines
}
logWords-cut = shortened
logWords-failed = The logs could not be loaded.
logWords-countsFailed = The number of lines of each display could not be loaded.
logWords-csv = The newest of these lines, at most 10,000, as a table
