### The panel of one display.

displayWords-region = Display { $name }
displayWords-gone = There is no display with this uuid, or it was deleted.
displayWords-copyUuid = Copy uuid
displayWords-since = since
displayWords-uuid = uuid
displayWords-site = Site
displayWords-tags = Tags
displayWords-host = Host name
displayWords-ip = IP address
displayWords-version = Player version
displayWords-heartbeat = Last heartbeat
displayWords-screen = Screen
displayWords-shows = On the screen
displayWords-notSeen = not seen
displayWords-glass-page = a page
displayWords-glass-error = an error page
displayWords-glass-crashed = a page that has crashed
displayWords-glass-nothing = no page
displayWords-glass-program = another program
displayWords-hours = Opening hours
displayWords-keepsHours = kept by the display
displayWords-hoursUntold = not yet on the display
displayWords-presence = Broker session
displayWords-connection = MQTT connection
displayWords-reconnects = Reconnect count
displayWords-unsteady = Unsteady connection: { NUMBER($losses_n) } losses in the last hour
displayWords-never = It has never connected.
displayWords-noHeartbeat = It has connected, but has not sent a heartbeat yet.
displayWords-codeEnded = Its code expired at { $time }.
displayWords-codeUntil = Its code works until { $time }.
displayWords-codeNone = It has no code that still works.
displayWords-newCode = New code
displayWords-newCodeHow = It replaces the previous one and is not shown again.
displayWords-remove = Remove
displayWords-removeSure = Remove it for good
displayWords-askAdmin = An admin can create a new code for it, or remove it.
displayWords-lastDisconnect = Last disconnect, by its own clock
displayWords-oddLogin = Two devices with one login
displayWords-sharedLogin = They were last seen at { $time }. Each throws the other out, and either may get a command.
displayWords-sharedAsk = A new code ends this: the device that uses it keeps the display, the other one loses its login.
displayWords-sharedHow = Give this code to the device that shall stay, before { $time }. The other one loses its login then.
displayWords-sharedAskAdmin = An admin can create a new code.
displayWords-counterWentBack = Its counter went back at { $time }, probably by a restored image or a write filter; some of its log lines may appear twice.
displayWords-recovery = Recovery
displayWords-tabs-about = Overview
displayWords-tabs-logs = Logs
displayWords-tabs-commands = Commands
displayWords-tabs-health = Health
displayWords-tabs-events = Events
displayWords-tabs-refused = Refused

refusedWords-title = Refused messages
refusedWords-last = last
refusedWords-show = Show them
refusedWords-none = No message of this display was refused.
refusedWords-failed = The refused messages could not be loaded.
refusedWords-times = { $n } { $n ->
    [one] time
   *[other] times
}
