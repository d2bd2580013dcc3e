### The public status page of a site.

statusPageWords-title = Displays
statusPageWords-invalid = This link is not valid.
statusPageWords-allRun = All displays run.
statusPageWords-allOpenRun = All displays that are meant to be on run.
statusPageWords-allOff = All displays are meant to be off now.
statusPageWords-someDoNot = { $n } { $n ->
    [one] display does
   *[other] displays do
} not run.
statusPageWords-someUnknown = The state of { $n } { $n ->
    [one] display
   *[other] displays
} is not known.
statusPageWords-noneKnown = The state of the displays is not known now.
statusPageWords-none = This site has no displays.
statusPageWords-more = The site has more displays than are listed here.
statusPageWords-asOf = As of { $at }. This page is refreshed every minute.
statusPageWords-notRefreshed = The page could not be refreshed; it tries again by itself.
statusPageWords-noName = Display without a name
statusPageWords-states-running = running
statusPageWords-states-not_running = not running
statusPageWords-states-off = meant to be off
statusPageWords-states-unknown = unknown
statusPageWords-since = since { $at }
statusPageWords-wholeWeek = for a week or longer
statusPageWords-incident = Several displays failed together: { $at }.
statusPageWords-week = The last 7 days, a bar for each hour by its worst state:
statusPageWords-up = { $share } available in the last 7 days
statusPageWords-upKnown = known for { $time }: { $share } of that available
statusPageWords-bar = The last 7 days, each hour by its worst state: { $parts }
statusPageWords-part = { NUMBER($n) } { $state }
statusPageWords-closed = off or not there yet
