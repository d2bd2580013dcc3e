
emptySitesWords-none = kein Display am Standort { $sites }