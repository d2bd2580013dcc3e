### The question before a breaker is released.

releaseWords-title = Let recovery act?
releaseWords-ask = { $n } { $n ->
    [one] display is
   *[other] displays are
} held back. Recovery may restart or reboot { $most_n ->
    [one] one
   *[other] up to { $most_n }
} of them now.
releaseWords-later = If more displays fail together later, recovery holds back again.
releaseWords-go = Let it act
releaseWords-done = Recovery may act now.
releaseWords-hold = Hold again…
