### Failed services, and their acknowledgement.

failureWords-region = Service failed
failureWords-title = Service failed on { $n } { $n ->
    [one] display
   *[other] displays
}
failureWords-unit = Unit
failureWords-acknowledge = Acknowledge
failureWords-acknowledgeOf = Acknowledge the failure of { $name }
failureWords-sending = Acknowledging…
failureWords-done = Acknowledged
failureWords-by = Acknowledged by { $who }
failureWords-elsewhere = Acknowledged by somebody else
failureWords-again = Failed again at { $time }: look at it before you acknowledge it
failureWords-error = The acknowledgement did not get through.
failureWords-refused = Not acknowledged: { $detail }
failureWords-mended = { $n } { $n ->
    [one] service
   *[other] services
} failed and { $n ->
    [one] works
   *[other] work
} again.
failureWords-wellSince = well since
failureWords-mendedBy = restarted by { $who }, well since
failureWords-acknowledgeThese = Acknowledge { $n ->
    [one] it
   *[other] these { $n }
}
failureWords-showAll = Show all { $n }
failureWords-showLess = Show fewer
failureWords-paused = as of { $time }, not updating
failureWords-viewer = Only operators can acknowledge
