### What is wrong, a cause at a time.

displays_n = { $n } { $n ->
    [one] display
   *[other] displays
}

causeWords-title = What is wrong
causeWords-network = Network { $subnet }
causeWords-several = Several sites
causeWords-some = Several displays
causeWords-since = since
causeWords-again = { $n } times in 24 hours
causeWords-holds = Recovery holds back: so many at once may be our own fault.
causeWords-acts = Recovery is at work on { displays_n }.
causeWords-off = Automatic recovery is switched off.
causeWords-show = { $n ->
    [one] Show it
   *[other] Show the { $n }
}
causeWords-snooze = Snooze the site…
causeWords-release = Let recovery act…
causeWords-story = What happened
causeWords-unsteady = Unsteady connection: { displays_n }
causeWords-worst = { $name } lost the broker { $losses_n } times in the last hour. The likely cause is its own network.
causeWords-worstOf = Each lost the broker three times or more in the last hour; { $name } did { $losses_n } times. The likely cause is their own networks.
causeWords-shared = Two devices with one login: { displays_n }
causeWords-sharedWhy = Either device may get a command, so recovery leaves the display alone. A new code for one of them ends it.
causeWords-andMore = and { $n } more
causeWords-mended = Recovery mended { $n } { $n ->
    [one] failure
   *[other] failures
} since { $since }.
