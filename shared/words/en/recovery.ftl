# $action is a command
recovery_command = { $action ->
    [restart_app] restart
    [reboot_host] reboot
    [shutdown_host] shutdown
    [screenshot] screenshot
    [screen_on] screen on
    [screen_off] screen off
   *[other] { $action }
}

# $screen: how it fails; none of these: not known
recovery_screen = { $screen ->
    [black] The screen is black
    [frozen] The screen is frozen
    [white] The screen is white
    [hung] The screen shows a browser that hangs
    [error_page] The screen shows an error page
    [no_page] The screen shows no page
    [wrong_page] The screen shows another page than expected
    [disconnected] The screen is disconnected
    [off] The screen is off
   *[other] The screen fails
}
recovery_bad_screen = { recovery_screen } and the display is heard
# $basis is the evidence
recovery_evidence = { $basis ->
    [crashed] The player crashed and the heartbeat that says so is fresh
    [service_failed] A service failed and the display is heard
    [stale] The display is silent while we listen, and the broker does not say that it left
   *[screen_failed] { recovery_bad_screen }
}

# $restarts of the player and $reboots of the device
recovery_restarts = { $restarts ->
    [one] { $restarts } restart
   *[other] { $restarts } restarts
}
recovery_reboots = { $reboots ->
    [one] { $reboots } reboot
   *[other] { $reboots } reboots
}
recovery_tries = { $restarts ->
    [0] { recovery_reboots }
   *[other] { recovery_restarts }{ $reboots ->
        [0] {""}
       *[other] {" "}and { recovery_reboots }
    }
}
recovery_no_help = { $restarts ->
    [0] { $reboots ->
        [0] Nothing has helped
       *[other] { recovery_reboots } did not help
    }
   *[other] { recovery_tries } did not help
}
# $reason: what the display said; $elsewhere: its boot was another one
recovery_refused = { recovery_tries } { $restarts ->
    [0] { $reboots ->
        [one] was
       *[other] were
    }
    [one] { $reboots ->
        [0] was
       *[other] were
    }
   *[other] were
} refused by the display{ $reason_is ->
    [none] {""}
    [empty] {" "}({ $elsewhere ->
        [yes] { recovery_elsewhere }
       *[no] without a reason
    })
   *[some] {" "}({ $reason }{ $elsewhere ->
        [yes] {": "}{ recovery_elsewhere }
       *[no] {""}
    })
}
recovery_elsewhere = its boot was another one than in its last stored heartbeat
recovery_needs_you = nothing is sent any more until a person acts and resumes recovery.

recovery_off = Automatic recovery is switched off by the setting CRASH_RECOVERY_ENABLED.
bridge_silent = The bridge gives no sign, so what we see may be out of date; nothing is sent until it listens again.
command_open = A { recovery_command } is on its way; its outcome decides what comes next.
command_of_another = A { recovery_command } that { by_whom } asked for { seconds_long } ago has no outcome yet; recovery waits until it has one, or its time is over, or an admin ends it.
# $seconds: how long ago the first attempt was
nothing_helped = { recovery_no_help }{ $seconds_is ->
    [none] {""}
   *[some] , the first of them { seconds_long } ago
}: { recovery_needs_you }
all_refused = { recovery_refused }: { recovery_needs_you }

two_devices = Two devices use this login, last seen { seconds_long } ago, so either could receive a command. Give one of them a new code.
shut_down_on_purpose = The display was shut down on purpose; it is left alone until its next heartbeat.
stopped_on_purpose = The player was stopped on purpose; it is left alone.

no_heartbeat_yet = No heartbeat of the display has come yet; there is nothing to go by.
reports_come_again = Its reports come again since the bridge listens again; recovery waits for its heartbeats.
not_heard_since = The display has not been heard since the bridge listens again; its silence counts from then.
failure_not_repeated = The service { $unit } failed, but the display has not said so again since; acknowledge the failure if all is well.
screen_disconnected = The screen is disconnected. No command mends that: somebody has to look at its cable and its power.
screen_off = The screen is off, and nobody planned that. No command is sent: somebody has to switch it on, or plan the time in which it is off.
screen_wrong_page = The screen shows another page than expected. No command is sent: somebody has to look at what the player was given to show, or change what is expected.
screen_unproven = { recovery_screen }; recovery waits for two new reports before it sends anything.
heard_again = The display is heard again; whether it stays well is not known yet.

silent_and_gone = The display is silent and not connected: nothing can be sent to it.
not_connected = { $basis ->
    [crashed] The player crashed
    [service_failed] A service failed
   *[other] { recovery_screen }
}, but the display is not connected; recovery tries again after its next heartbeat.
silent_too_long = The display has been silent for more than a day. A reboot would not help, so recovery sends nothing: a person must look at it.
command_done = { command_name } by recovery was done; whether it helped is judged when the lockout ends.
asked_again_later = { recovery_refused }; it is asked again when the lockout ends.
sent_lately = A restart or reboot was sent lately; the display is given time to come back before the next one.
cannot_do = { recovery_evidence }, but this display says that it cannot do a { recovery_command }.

watchdog_first = The player crashed a moment ago; the display's own watchdog goes first.
other_screens_first = { recovery_bad_screen }; recovery waits to see whether many others fail too.
others_first = The display fell silent a moment ago; recovery waits to see whether many others did too.
shop_just_opened = Its shop opened a moment ago and it was silent before; recovery gives it the time to start.
first_heartbeat_awaited = The display came online a moment ago; recovery waits for its first heartbeat.
many_late = { $late } of { $seen } displays are late or silent: recovery waits to see whether more fall silent.
command_due = { recovery_evidence }; the next tick with a place free sends a { recovery_command }.
no_help_so_far = { recovery_no_help } so far.
refused_before = { recovery_refused }.
command_sent = { recovery_evidence }: a { recovery_command }, attempt { $attempt } of { $attempts }.
no_help = { recovery_no_help }.
# The cause of the incident follows
part_of_incident = It is part of an incident:
