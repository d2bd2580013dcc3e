### The names of states, screens, actions and steps.

statusWords-running = Running
statusWords-late = Late
statusWords-stale = Stale
statusWords-crashed = Crashed
statusWords-starting = Starting
statusWords-stopped = Stopped
statusWords-unknown = Unknown
statusWords-screen_failed = Bad screen
statusWords-limit_passed = Past a limit

statusMeanings-running = The player shows its playlist.
statusMeanings-late = A heartbeat is overdue; one missed heartbeat is no cause for alarm.
statusMeanings-stale = Silent: several heartbeats in a row are missing.
statusMeanings-crashed = The player died and its watchdog has not brought it back.
statusMeanings-starting = The player is loading.
statusMeanings-stopped = The player was stopped on purpose.
statusMeanings-unknown = Not heard from yet, its heartbeats are missing, or the display cannot tell.
statusMeanings-screen_failed = Black, white, frozen, without the right page, disconnected, or off unplanned.
statusMeanings-limit_passed = The machine is past a limit.

screenWords-ok = ok
screenWords-black = black picture
screenWords-frozen = frozen picture
screenWords-white = white picture
screenWords-hung = browser hangs
screenWords-error_page = error page
screenWords-no_page = no page
screenWords-wrong_page = not the expected page
screenWords-off = panel off
screenWords-disconnected = no panel connected
screenWords-unknown = not reported

offByWords-command = off, by an operator
offByWords-hours = off, by its opening hours

actionWords-restart_app = Restart player
actionWords-reboot_host = Reboot
actionWords-shutdown_host = Shut down
actionWords-screenshot = Screenshot
actionWords-screen_on = Screen on
actionWords-screen_off = Screen off

stepWords-queued = Queued
stepWords-sent = Sent
stepWords-received = Received
stepWords-running = Running
stepWords-succeeded = Succeeded
stepWords-failed = Failed
stepWords-rejected = Refused by the display
stepWords-expired = Expired
stepWords-timed_out = Timed out
stepWords-cancelled = Cancelled
