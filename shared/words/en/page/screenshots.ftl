### Pictures of displays' screens.

displays_n = { $n } { $n ->
    [one] display
   *[other] displays
}

screenshotWords-title = Screen
screenshotWords-wall = Pictures of the screens
screenshotWords-take = Take a screenshot
screenshotWords-taking = Waiting for the display's picture…
screenshotWords-none = No picture yet.
screenshotWords-taken = Taken
screenshotWords-before = Before the failure at
screenshotWords-beforeFailure = The last pictures before the failure
screenshotWords-beforeFailures = Screens before they failed
screenshotWords-earlier = Earlier pictures
screenshotWords-alt = Screen of { $name }, { $time }
screenshotWords-show = Show the picture of { $time }
screenshotWords-notCapable = This display sends no pictures of its screen.
screenshotWords-off = Nobody may see the screens of { $site }. An admin can change that.
screenshotWords-noSite = displays without a site
screenshotWords-hide = Let nobody see the screens of { $site }
screenshotWords-hideSure = Delete their pictures, and take no more
screenshotWords-allow = Let operators see the screens of { $site }
screenshotWords-cause-screenshots_off = Nobody may see the screens of this site.
screenshotWords-cause-screenshot_not_wanted = The picture came too late.
screenshotWords-failed = The pictures could not be loaded.
screenshotWords-newPictures = New pictures
screenshotWords-came = { $n } of { $all_n } { $all_n ->
    [one] picture
   *[other] pictures
} came
screenshotWords-and = { $first }, { $next }
screenshotWords-progress = { $words }.
screenshotWords-part-unable = { displays_n } cannot send one
screenshotWords-part-hidden = { $n } { $n ->
    [one] screen
   *[other] screens
} may not be seen
screenshotWords-part-away = { $n } { $n ->
    [one] display is
   *[other] displays are
} not connected
screenshotWords-part-silent = { displays_n } did not answer
screenshotWords-part-failed = { $n } failed
screenshotWords-part-waiting = { $n } still to come
screenshotWords-step-unable = Cannot send one
screenshotWords-step-hidden = May not be seen
screenshotWords-step-away = Not connected
screenshotWords-step-silent = Did not answer
screenshotWords-step-failed = Failed
screenshotWords-step-waiting = A new one is on its way…
