### Failures that are mended, acknowledged together.

mendedWords-title = Acknowledge what is mended
mendedWords-lead = These displays run again, and their health reports name no failure.
mendedWords-left = { $n } { $n ->
    [one] failure was
   *[other] failures were
} left: the display failed again, or somebody was faster.
