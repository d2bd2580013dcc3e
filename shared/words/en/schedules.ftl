scheduler_late = The scheduler was away: it came { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
} too late.
changed_before = { by_whom } changed the schedule before the scheduler came.
cancelled_before = { by_whom } cancelled the schedule before the scheduler came.

schedule_cancelled = Cancelled by { by_whom }.
schedule_next = Next: { at_long }.
# The reason follows
schedule_held = Held:
schedule_held_back = Held: its batch is paused.
schedule_running = Its commands are on their way.
# The reason follows
schedule_missed = Missed on { at_long }:
schedule_done = Done on { at_long }.
