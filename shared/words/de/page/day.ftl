dayWords-week = Die letzten 7 Tage
dayWords-hours = { $day }, jede Stunde nach ihrem schlechtesten Zustand: { $parts }
dayWords-halfHours = Die letzten 24 Stunden, jede halbe Stunde nach ihrem schlechtesten Zustand: { $parts }
dayWords-closed = geschlossen oder noch nicht da
dayWords-part = { $n }-mal { SMALL($word) }
