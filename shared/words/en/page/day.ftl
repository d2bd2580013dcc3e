### The bars of the last 24 hours and of the last week.

dayWords-week = The last 7 days
dayWords-hours = { $day }, each hour by its worst state: { $parts }
dayWords-halfHours = The last 24 hours, each half hour by its worst state: { $parts }
dayWords-closed = closed or not there yet
dayWords-part = { $n } { SMALL($word) }
