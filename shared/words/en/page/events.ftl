### The timeline of one display.

eventWords-kind-registered = Registered
eventWords-kind-state = State
eventWords-kind-service_failed = Service failure
eventWords-kind-service_cleared = Acknowledged
eventWords-kind-screen = Screen
eventWords-kind-log = Log
eventWords-kind-command = Command
eventWords-kind-recovery = Recovery
eventWords-kind-audit = Change
eventWords-none = Nothing has happened to this display yet.
eventWords-failed = The events could not be loaded.
