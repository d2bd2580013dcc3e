### A display's machine, as it last reported and over time.

healthWords-none = This display has not reported its health yet.
healthWords-at = Reported
healthWords-cpu = Processor
healthWords-limit = above the usual limit of { $value }
healthWords-machine = Machine
healthWords-os = System
healthWords-boot = Boot
healthWords-player = Player start
healthWords-interval = Heartbeat every
healthWords-seconds = { $n } { $n ->
    [one] second
   *[other] seconds
}
healthWords-logLevel = Log level
healthWords-capabilities = Can do
healthWords-all = everything

healthHistoryWords-title = Over time
healthHistoryWords-range = How far back
healthHistoryWords-days = { $n ->
    [one] 24 h
   *[other] { NUMBER($n) } d
}
healthHistoryWords-ago = { $n ->
    [one] 24 h ago
   *[other] { NUMBER($n) } days ago
}
healthHistoryWords-now = now
healthHistoryWords-always = always { $last }
healthHistoryWords-words = lowest { $least }, highest { $most }, last { $last }
healthHistoryWords-spoken = { $name } over the last { $days_n ->
    [one] 24 hours
   *[other] { NUMBER($days_n) } days
}: { $words }.
healthHistoryWords-notTold = not reported in this time
healthHistoryWords-silent = Nothing was reported for { $time } of this time: there the lines are broken.
healthHistoryWords-partly = Known for { $known }. Nothing is known about the rest of the { $days_n ->
    [one] 24 hours
   *[other] { NUMBER($days_n) } days
}: there the lines are broken.
healthHistoryWords-nothing = Nothing was reported in this time. A display that is on is sampled every five minutes.
healthHistoryWords-means = Each point is the mean of { $time }; lowest and highest are of single samples.
healthHistoryWords-failed = The history could not be loaded.
