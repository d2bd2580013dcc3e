### What is wrong with the service itself.

bannerWords-offline = The service does not answer. You see what was known at { $time }. Trying again automatically.
bannerWords-offlineFromTheStart = The service does not answer. Trying again automatically.
bannerWords-signOutFailed = Signing out did not reach the service: you are still signed in. Try again in a moment.
bannerWords-bridge = Bridge silent since { $time }; display states are unknown.
bannerWords-bridgeNever = The bridge has not been heard from; display states are unknown.
bannerWords-bridgeWhy = Nothing that displays send is being stored. Recovery does not act on what it cannot see.
bannerWords-scheduler = The scheduler is late: last tick { $time }.
bannerWords-schedulerNever = The scheduler has not ticked yet.
bannerWords-schedulerWhy = Until it ticks, overdue commands do not expire and nothing is recovered.
bannerWords-empty = No display is at { $sites }, a site of your rights.
bannerWords-emptyWhy = If the site has another name now, ask an admin to change your sites.
bannerWords-breaker = Recovery holds back: too many displays failed at once.
bannerWords-release = Let recovery act…
