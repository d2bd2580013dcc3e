### What names a site at which no display is.


emptySitesWords-none = no display is at { $sites }