### Displays that need a person: what is wrong, what recovery did, why it waits.

attentionWords-title = Needs attention
attentionWords-count = { $n } { $n ->
    [one] display
   *[other] displays
}{ $told_n ->
    [0] {""}
   *[other] , besides the { $told_n } above
}
attentionWords-wrong = What is wrong
attentionWords-did = What recovery did
attentionWords-why = Why it is not acting now
attentionWords-showAll = Show { $n } more
attentionWords-inTable = { $n } more: use the tiles and the table below
attentionWords-crashed = The player crashed
attentionWords-stale = Silent: last heartbeat
attentionWords-staleNever = Silent
attentionWords-mute = Sends messages but no heartbeats: the last one
attentionWords-failed = Service { $unit } failed
attentionWords-screen = The screen { $how ->
    [error_page] shows an error page
    [no_page] shows no page
    [wrong_page] shows another page than expected
    [off] is off, and nobody planned that,
   *[other] is { $how }
} since
attentionWords-limit = Past its limit: { $passed }, since
attentionWords-step = { $action }: { SMALL($step) }
attentionWords-nothingYet = Nothing so far
attentionWords-sentLately = A restart or reboot was sent recently
attentionWords-steps = { $n } { $n ->
    [one] attempt so far
   *[other] attempts so far
}
attentionWords-until = Until { $time } ({ $left } left).
attentionWords-incident = Part of incident { NUMBER($id) }
attentionWords-notUnwell = Recovery does not act on this
attentionWords-heldBack = Held back with the others, see above.
