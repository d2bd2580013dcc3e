### One's own sessions.

ownSessionWords-title = Where you are signed in
ownSessionWords-thisOne = this one
ownSessionWords-someBrowser = A browser
ownSessionWords-browserOn = { $browser } on { $system }
ownSessionWords-nowhere = address unknown
ownSessionWords-since = since
ownSessionWords-used = last used
ownSessionWords-end = End
ownSessionWords-endOf = End the session of { $name } at { $address }
