# $site: the shop; without one it is the whole fleet

at_site = { $site_is ->
    [some] At { $site },{" "}
   *[none] {""}
}
there = { $site_is ->
    [some] {" "}there
   *[none] {""}
}

# $percent: it closes when a smaller share is silent
breaker_open = { at_site }{ $stale } of { $seen } displays are silent: so many at once may be our own fault. No silent display{ there } is rebooted until fewer than { $percent }% are silent, or an operator releases the breaker.
# $seconds: how long few enough must be silent
breaker_closing = So many displays{ $site_is ->
    [some] {" "}at { $site }
   *[none] {""}
} were silent at once that it may have been our own fault; now few enough are. No silent display{ there } is rebooted until that has lasted { seconds_long }, or an operator releases the breaker.
breaker_closed = { breaker } closed: few enough displays are silent.
breaker_released = { breaker } was released by { by_whom }; silence from before no longer counts.
breaker = { $site_is ->
    [some] The breaker of { $site }
   *[none] The breaker of the fleet
}

# $telling: how many displays tell how their screen is
screens_open = { at_site }{ $failing } of { $telling } screens are blank, frozen or without their page: so many at once come from what they were given to show, or from the power. No player{ there } is restarted for its screen until fewer are, or an operator releases the breaker.
screens_closed = { screens_breaker } closed: few enough fail.
screens_released = { screens_breaker } was released by { by_whom }; screens that failed before count no more.
screens_breaker = { $site_is ->
    [some] The breaker of the screens of { $site }
   *[none] The breaker of the fleet's screens
}

more_sites_held = { $sites ->
    [one] { $sites } more site is
   *[other] { $sites } more sites are
} held back as well.
