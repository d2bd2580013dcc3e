client_registered = { $how ->
    [enrolment] Created by an enrolment code.
    [first_message] Registered by its first message.
   *[other] Registered.
}
# The cause follows
state_changed = { status_before } → { status_after }:
status_before = { $before ->
    [running] Running
    [late] Late
    [stale] Stale
    [crashed] Crashed
    [starting] Starting
    [stopped] Stopped
    [unknown] Unknown
   *[other] { $before }
}
status_after = { $after ->
    [running] running
    [late] late
    [stale] stale
    [crashed] crashed
    [starting] starting
    [stopped] stopped
    [unknown] unknown
   *[other] { $after }
}

service_failed = Service { $unit } failed
failure_acknowledged = Failure of { $unit } acknowledged by { by_whom }
screen_changed = { $fails ->
    [yes] { screen_began_to_fail }
   *[no] { screen_fails_no_more }
}
screen_began_to_fail = { $screen ->
    [off] The screen is off, and nobody planned that
   *[other] { recovery_screen }
}
screen_fails_no_more = { $screen ->
    [ok] The screen shows its content again
    [off] The screen is off, which is no failure now
    [unknown] Nobody sees the screen any more
   *[other] The screen fails no more
}
line_logged = { log_level }: { $message }
log_level = { $level ->
    [debug] Debug
    [info] Info
    [warning] Warning
    [error] Error
    [critical] Critical
   *[other] { $level }
}

# $reason: of recovery a sentence, of a person their own words without a full stop
command_requested = { command_name } asked for by { by_whom }{ $reason_is ->
    [some] { command_reason }
   *[none] {""}
}
command_reason = { $by_kind ->
    [recovery] . { $reason }
   *[person] {" "}({ $reason })
}
command_received = { command_name } received by the display
command_over_before = { command_name }: the display said { command_step } after it was over
command_step = { $state ->
    [queued] queued
    [sent] sent
    [received] received
    [running] running
    [succeeded] succeeded
    [failed] failed
    [rejected] refused
    [expired] expired
    [timed_out] timed out
    [cancelled] cancelled
   *[other] { $state }
}
command_over = { command_name } { command_outcome }{ $cause_is ->
    [some] : { command_cause_long }
   *[none] { command_over_why }
}
command_over_why = { $why_is ->
    [some] {" "}({ $why })
   *[none] { command_confirmed }
}
command_confirmed = { $confirmed_by ->
    [ack] {" "}(the display confirmed it)
    [evidence] {" "}(what the display did after it proved it)
    [both] {" "}(the display confirmed it, and what it did after it proved it)
   *[other] {""}
}
command_outcome = { $state ->
    [succeeded] succeeded
    [failed] failed
    [rejected] was refused by the display
    [expired] expired
    [timed_out] brought no result in time
    [cancelled] was cancelled
   *[other] { $state }
}

# The reason follows
recovery_did_nothing = Recovery does nothing:
# The reason follows
recovery_asked = Recovery asks for { a_command }:
a_command = { $action ->
    [restart_app] a restart
    [reboot_host] a reboot
    [shutdown_host] a shutdown
    [screenshot] a screenshot
    [screen_on] a screen on
    [screen_off] a screen off
   *[other] { $action }
}

person_did = { done_to_it }{ $named ->
    [yes] , by { by_whom }
   *[no] {""}
}
done_to_it = { $did ->
    [client_write] Facts changed
    [client_delete] Deleted
    [client_log_level] Log level changed for a time
    [enrolment_create] Enrolment code issued
    [enrolment_use] Enrolled: the display fetched its login
    [enrolment_rotate] Password replaced by the display's own
    [enrolment_delete] Login revoked
    [screenshot_send] Picture of its screen stored
    [screenshot_look] Picture of its screen looked at
    [recovery_hold] Recovery put on hold
    [recovery_resume] Recovery resumed
    [recovery_exclude] Excluded from recovery
    [recovery_include] Recovered automatically again
    [quiet_time_create] Quiet time made
    [quiet_time_write] Quiet time changed
    [quiet_time_end] Quiet time ended
   *[other] { $action }
}
