### The settings page: one's own account, and the service's settings and state.

settingsWords-title = Settings
settingsWords-adminOnly = Only admins see people, access tokens and the audit log.
settingsWords-account = Your account
settingsWords-signedInAs = Signed in as { $name }, { $role }.
settingsWords-changePassword = Change password
settingsWords-passwordChanged = Your password was changed.
settingsWords-byProvider = You sign in with { $name }: password and second factor are there.
settingsWords-service = Service
settingsWords-scheduler = Scheduler
settingsWords-lastTick = Last tick
settingsWords-took = took { $ms } ms
settingsWords-bridge = Bridge
settingsWords-listening = listening
settingsWords-silent = silent
settingsWords-canary = Last round trip
settingsWords-connectedSince = Connected since
settingsWords-values = Values in force
settingsWords-changed = default { $value }
settingsWords-failed = The state of the service could not be loaded.
