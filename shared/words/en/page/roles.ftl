### What each role may do.

roleWords-viewer = viewer: reads
roleWords-operator = operator: also acts
roleWords-admin = admin: everything
