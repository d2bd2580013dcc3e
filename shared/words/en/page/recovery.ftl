### What automatic recovery does about one display.

recoveryWords-state-off = Recovery is off
recoveryWords-state-due = About to act
recoveryWords-state-in_flight = A command is on its way
recoveryWords-state-verifying = Waiting for proof
recoveryWords-state-locked = Cooling down after the last command
recoveryWords-state-suspended = Suspended until somebody acts
recoveryWords-state-unreachable = The display is not connected
recoveryWords-state-blocked_bridge = The bridge is silent
recoveryWords-state-blocked_breaker = Too many fail at once
recoveryWords-state-held = Left alone
recoveryWords-state-not_recovered = Not recovered automatically
recoveryWords-mute = Nothing is sent: the display still sends messages
recoveryWords-well = This display is well; there is nothing to recover.
recoveryWords-never = It has not sent a heartbeat yet; there is nothing to recover.
recoveryWords-tried = Tried so far: { $restarts_n } { $restarts_n ->
    [one] restart
   *[other] restarts
}, { $reboots_n } { $reboots_n ->
    [one] reboot
   *[other] reboots
}.
recoveryWords-resume = Resume recovery
