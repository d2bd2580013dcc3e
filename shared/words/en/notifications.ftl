# Titles of troubles. $display: its name and site
fleet_unheard = We do not hear the fleet
fleet_unheard_recovery = Recovery does nothing until we hear the fleet again.
# $times: in 24 hours; $keeps: yes where it fails again and again; $site: that of a subnet
place_fails = { $displays } { $displays ->
    [one] display
   *[other] displays
}{ place_where } { $keeps ->
    [yes] { $displays ->
        [one] keeps failing
       *[other] keep failing
    }{ place_times }
   *[no] failed together{ place_again }
}
place_where = { $kind ->
    [site] {" "}at { $key }
    [subnet] {" "}in the subnet { $key }{ $site_is ->
        [some] {" "}of { $site }
       *[none] {""}
    }
   *[cluster] { $sites ->
        [0] {""}
        [1] {""}
       *[other] {" "}at { $sites } sites
    }
}
place_again = { $times ->
    [0] {""}
    [1] {""}
   *[other] {" "}again{ place_times }
}
place_times = { $times ->
    [0] {""}
    [1] {""}
   *[other] {" "}({ $times } times in 24 hours)
}
all_back = { $displays ->
    [one] It is back.
   *[other] All { $displays } are back.
}
display_unwell = { $display } { $what ->
    [stale] is silent
    [crashed] has crashed
    [screen] has a screen that { told_screen }
    [service] has a failed service ({ $unit })
   *[unknown] is unwell
}{ $suspended ->
    [yes] : recovery has tried everything
   *[no] {""}
}
told_screen = { $screen ->
    [black] is black
    [frozen] is frozen
    [white] is white
    [hung] shows a browser that hangs
    [error_page] shows an error page
    [no_page] shows no page
    [wrong_page] shows another page than expected
    [disconnected] is disconnected
    [off] is off
   *[other] fails
}
screen_fails = { $display }: its screen { told_screen }{ $screen ->
    [off] , and nobody planned that
   *[other] {""}
}
limit_passed = { $limit ->
    [disk] Disk of { $display } is { $value } % full; the limit is { $limit_at } %
    [memory] Memory of { $display } is { $value } % full; the limit is { $limit_at } %
    [heat] { $display } is { $value } °C hot; the limit is { $limit_at } °C
    [certificate] The certificate authority that { $display } trusts { $is_over ->
        [yes] has ended
       *[no] ends in { seconds_long }
    }; the limit is { $limit_at } days
    [clock] Clock of { $display } is { seconds_long } { $is_fast ->
        [yes] fast
       *[no] slow
    }; the limit is { $limit_at } seconds
    [voltage] Power supply of { $display } gave too little voltage since its boot
    [read_only] Disk of { $display } takes no writes, so it refuses commands
   *[refused] { $display } does not take an order: its panel says which and why
}
connection_unsteady = { $display }: unsteady connection, { $losses } losses in the last hour
login_shared = { $display }: two devices use its login
login_shared_cause = Either of them may get a command, so recovery leaves the display alone. A new code for one of them ends it.
breaker_holds = Recovery holds back{ $site_is ->
    [some] {" "}at { $site }
   *[none] {""}
}
site_still_named = { $things ->
    [one] { $things } thing still names
   *[other] { $things } things still name
} { $site }, where no display is left
names_site = { $things } { $what ->
    [person] { $things ->
        [one] person has rights there
       *[other] people have rights there
    }
    [token] { $things ->
        [one] token has rights there
       *[other] tokens have rights there
    }
    [channel] { $things ->
        [one] channel hears of it
       *[other] channels hear of it
    }
    [quiet_time] { $things ->
        [one] quiet time
       *[other] quiet times
    }
    [schedule] { $things ->
        [one] schedule
       *[other] schedules
    }
    [status_link] { $things ->
        [one] status page
       *[other] status pages
    }
   *[pictures_off] { $things ->
        [one] switch of pictures
       *[other] switches of pictures
    }
}
things_to_move = { $things }. Give each of them another site, or the site its displays.
not_converted = { $file } could not be converted
certificate_ends = { $door ->
    [displays] The certificate that displays see
   *[people] The certificate of the dashboard
} { $seconds_is ->
    [some] ends within { seconds_long }
   *[none] has ended
}
certificate_end = { $has_ended ->
    [yes] It ended
   *[no] It ends
} on { told_at }. { $door ->
    [people] Browsers warn of the dashboard then
   *[displays] No display connects any more then
}, until the door shows a renewed one.
told_at = { $at_day } { $at_month ->
    [1] January
    [2] February
    [3] March
    [4] April
    [5] May
    [6] June
    [7] July
    [8] August
    [9] September
    [10] October
    [11] November
   *[12] December
} { NUMBER($at_year) }, { $at_clock } ({ $at_zone })

# What recovery does
recovery_does = { $state ->
    [off] Automatic recovery is switched off
    [due] Recovery is about to act
    [in_flight] A command of recovery is on its way
    [verifying] Recovery waits for proof that it is ill or well
    [locked] Recovery waits until the time after the last restart is over
    [suspended] Recovery has tried everything: a person must act
    [unreachable] The display is not connected, so recovery cannot act
    [blocked_bridge] Recovery waits until we hear the fleet
    [blocked_breaker] Recovery holds back: so many at once may be our own fault
    [held] Recovery leaves it alone, as it was told
   *[not_recovered] Recovery has nothing that the display could do
}
recovery_counted = { $displays } × { SMALL($what) }
recovery_about = { $what }.

# The lines of a message
got_worse = Worse: { $title }
got_over = Over: { $title }
trouble_since = Since { told_at }, for { seconds_long }.
trouble_lasted = It lasted { seconds_long }.
trouble_was = It was: { $cause }
displays_affected = { $displays } displays are affected: { $names }{ $more ->
    [0] {""}
   *[other] {" "}and { $more } more
}.
looks_after = { by_whom } is on it.
looked_after = { by_whom } was on it.
many_troubles = { $displays } displays { $is_over ->
    [yes] { $event ->
        [service_failed] have no failed service any more
        [screen_bad] have a good screen again
        [limit_passed] are within their limits again
        [login_shared] have a login for one device again
       *[other] are well again
    }
   *[no] { $event ->
        [service_failed] have a failed service
        [screen_bad] have a bad screen
        [limit_passed] pass a limit of health
        [connection_unsteady] have an unsteady connection
        [login_shared] have a login that two devices use
       *[other] are unwell
    }
}
and_more = and { $more } more
channel_trial = Test of Signage Fleet
channel_tried = { by_whom } tried the channel “{ $channel }”. Nothing is wrong.

# Reports
daily_report = Daily report: { $unwell ->
    [0] all { told_displays } well
   *[other] { $unwell } of { told_displays } unwell
}
told_displays = { $displays } { $displays ->
    [one] display
   *[other] displays
}
unwell_so = { $displays } { $how ->
    [silent] silent
    [crashed] crashed
   *[failing] with a failed service or screen
}
site_now = { site_named }: { $unwell }, of { told_displays }.
site_named = { $site_is ->
    [some] { $site }
   *[none] Without a site
}
more_sites = and { $more } more sites
displays_resting = { told_displays } off as planned.
last_day = Last 24 hours: { $incidents } { $incidents ->
    [one] incident
   *[other] incidents
}.
past_incident = { $cause }{ $is_over ->
    [yes] {" "}(over)
   *[no] {""}
}
more_incidents = and { $more } more incidents
recovery_did = Recovery { $restarts ->
    [0] { $reboots ->
        [0] had nothing to do
       *[other] { rebooted }
    }
   *[other] { restarted }{ $reboots ->
        [0] {""}
       *[other] {" "}and { rebooted }
    }
}.
restarted = restarted a player { $restarts ->
    [one] once
   *[other] { $restarts } times
}
rebooted = rebooted a display { $reboots ->
    [one] once
   *[other] { $reboots } times
}
known_told = { $known_is ->
    [some] {" "}({ $known })
   *[none] {""}
}
known_for = known for { seconds_long }{ each_of }
each_of = { $several ->
    [yes] {" "}each, on average
   *[no] {""}
}
weekly_report = Weekly report: { percent_told } available{ known_told }
percent_told = { $percent_is ->
    [some] { $percent }.{ $tenths } %
   *[none] unknown
}
week_of = { $begins } to { $ends }, while open.
site_week = { site_named }: { percent_told }{ $seconds_is ->
    [some] , down for { seconds_long }{ each_of }
   *[none] {""}
}{ known_told }.
sites_left_out = The page has { $sites } more { $sites ->
    [one] site
   *[other] sites
}: one message has no room for so many displays.
