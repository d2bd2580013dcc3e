### Words that many views share.

commonWords-loading = Loading…
commonWords-working = Working…
commonWords-retry = Try again
commonWords-retrying = Trying again automatically.
commonWords-reload = Reload
commonWords-more = Load more
commonWords-andMore = and { $n } more
commonWords-csv = Save as CSV
commonWords-close = Close
commonWords-cancel = Cancel
commonWords-dismiss = Dismiss
commonWords-copy = Copy
commonWords-copied = Copied
commonWords-none = none
commonWords-never = never
commonWords-notReported = not reported
commonWords-by = by { $who }
commonWords-notLoaded = This part of the page could not be loaded.
commonWords-quietTimes = quiet times
commonWords-outOfDate = Not updating: what you see may be out of date
