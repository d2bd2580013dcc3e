### Commands to many displays at once.

displays_n = { $n } { $n ->
    [one] display
   *[other] displays
}

batchWords-region = Selected displays
batchWords-listed = None selected: for { $n ->
    [one] the listed one
   *[other] all { $n } listed
}
batchWords-selected = { displays_n } selected
batchWords-clear = Clear selection
batchWords-quiet = Quiet time…
batchWords-later = Later…
batchWords-silent = The bridge is silent: display states are unknown
batchWords-title = { $action }: { displays_n }
batchWords-would = { $outcome ->
    [accepted] { $n } will be sent
    [waiting] { $n } will be sent in later waves
    [command_in_flight] { $n } already { $n ->
        [one] has
       *[other] have
    } a command
    [locked_out] { $n } cooling down until { $until }
    [not_capable] { $n } cannot do this
    [unknown_client] { $n } no longer known
   *[other] { $n } { $outcome }
}
batchWords-reason = Reason (optional)
batchWords-waves = In waves: one display, then 10 %, then the rest; it stops when more than 10 % do not succeed
batchWords-type = Type { NUMBER($n) } to continue
batchWords-go = { $action } { displays_n }
batchWords-page = All bulk commands
batchWords-pageTitle = Bulk commands
batchWords-lead = What was sent to many displays at once, and what became of each.
batchWords-one = One bulk command
batchWords-none = No bulk command has been sent. Select displays in the table of the fleet page.
batchWords-failed = The bulk commands could not be loaded.
batchWords-failedOne = This bulk command could not be loaded.
batchWords-progress-good = { $n } of { $all_n } succeeded
batchWords-progress-going = { $n } { $n ->
    [one] is
   *[other] are
} on the way
batchWords-progress-waiting = { $n } { $n ->
    [one] waits
   *[other] wait
} for a later wave
batchWords-progress-bad = { $n } did not succeed
batchWords-progress-unsent = { $n } { $n ->
    [one] was
   *[other] were
} not sent ({ $why })
batchWords-progress-whole = { $parts }.
batchWords-unsentAmount = { $n } { $why }
batchWords-unsent-command_in_flight = already had a command
batchWords-unsent-locked_out = cooling down
batchWords-unsent-not_capable = cannot do this
batchWords-unsent-unknown_client = not known
batchWords-unsent-aborted = cancelled
batchWords-wave = wave { NUMBER($n) }
batchWords-waveOf = wave { NUMBER($n) } of { NUMBER($all) }
batchWords-pause = Pause
batchWords-resume = Resume
batchWords-abort = Cancel the rest
batchWords-state-running = Running
batchWords-state-paused = Paused
batchWords-state-finished = Finished
batchWords-state-aborted = Stopped
batchWords-state-succeeded = Succeeded
batchWords-state-partial = Partly succeeded
batchWords-state-failed = Failed
batchWords-outcome-accepted = Accepted
batchWords-outcome-waiting = Waits for its wave
batchWords-outcome-command_in_flight = Already had a command
batchWords-outcome-locked_out = Cooling down
batchWords-outcome-not_capable = Cannot do this
batchWords-outcome-unknown_client = Not known
batchWords-outcome-aborted = Never sent
