# $how it is quiet, $reason why, $quiet is left alone
quiet_time = { $how } by { by_whom }{ $reason_is ->
    [some] {" "}({ $reason })
   *[empty] {""}
}: { $quiet }.
quiet_how = { $preset ->
    [hold] On hold
    [snooze] Snoozed
    [maintenance] In maintenance
    [opening_hours] Closed by the opening hours set
    [leave_out] Left out of recovery
   *[custom] Made quiet
}
quiet_what = { $quiet ->
    [recovery] no automatic restarts
    [notices] no messages
    [screen] the screen may be off
   *[commands] batches wait
}
nothing_quiet = Nothing is quiet for this display now.

goes_although = It goes although the display is { $quiet }.
quiet_by = { SMALL($how) } by { by_whom }
quiet_and = { $before } and { $last }

nobody_at_site = No display is at { $site } yet.
nobody_with_tag = No display has the tag “{ $tag }” yet.
nobody_covered = No display is covered now.
