# Displays failed together. $members of $size displays of a place ($kind, $key), or at several $sites; $site: of a subnet
failed_together = { failed_where } { failed_how } { failed_within }{ $place }; { failed_why }.
failed_where = { $members }{ $size_is ->
    [some] {" "}of { $size } { $size ->
        [one] display
       *[other] displays
    }
   *[none] {" "}{ $members ->
        [one] display
       *[other] displays
    }
}{ $kind ->
    [site] {" "}at site { $key }
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
# $ways: how many failed in each way; $symptom: all in this way
failed_how = { $ways_n ->
    [1] { $symptom ->
        [silent] went silent
        [crashed] crashed
        [service_failed] { $unit_is ->
            [some] reported that { $unit } failed
           *[none] reported a failed service
        }
        [disconnected] lost the broker and came back
       *[screen_failed] { $screen ->
            [black] went black
            [frozen] froze
            [white] went white
            [hung] had browsers that hang
            [error_page] showed error pages
            [no_page] lost their page
            [wrong_page] showed other pages than expected
            [disconnected] lost their screens
            [off] had their screens switched off
           *[other] lost their picture
        }
    }
   *[other] failed ({ $ways })
}
failed_within = { $seconds_n ->
    [0] at once
   *[other] within { $seconds_unit ->
        [second] { $seconds_n } s
       *[other] { seconds_long }
    }
}
failed_why = { $likely ->
    [screens] the power of the screens, or somebody at the switch, is the likely cause
    [content] what they were given to show, or an update, is the likely cause
    [shared] a provider they share, the way to the broker or the broker itself is the likely cause
    [time] they have nothing in common but the time
   *[other] { $likely ->
        [network] the network or power
       *[short_break] a short break of the network
    } { $where ->
        [site] of the site
       *[subnet] of this part of the network
    } is the likely cause
}

failed_so = { $displays } { $symptom ->
    [silent] silent
    [crashed] crashed
    [service_failed] with a failed service
    [disconnected] cut off for a moment
   *[screen_failed] with a bad screen
}
# Behind how they failed: how many of them are at a site, or in a subnet; $whole: that are all there
most_at = { $among ->
    [yes] , among them{" "}
   *[no] ,{" "}
}{ $whole ->
    [yes] all { $members }
   *[no] { $members } of { $size }
} of { $kind ->
    [site] { $key }
   *[subnet] the subnet { $key }
}

# $at: the bridge's last sign
fleet_not_heard = We do not hear the fleet: the bridge gives no sign since { at_long }. The displays may well be running.
other_sites_too = Displays of other sites failed at the same time.

part_of_another = Part of incident { NUMBER($id) } from here on.
has_part = Incident { NUMBER($id) } ({ $kind }{ $key_is ->
    [some] {" "}{ $key }
   *[empty] {""}
}) turned out to be part of this one.
failed_again = It failed again shortly after.
fleet_heard_again = We hear the fleet again.
all_well_again = All displays are well again.
displays_failed = { displays_n } failed
displays_well = { displays_n } well again
is_on_it = { by_whom } is on it.
took_over = { by_whom } took over from { $was }.
gave_back = { by_whom } gave it back.
command_asked = { command_name } for { displays_n } asked for by { by_whom }{ $reason_is ->
    [some] { command_reason }
   *[none] {""}
}
command_name = { $action ->
    [restart_app] Restart
    [reboot_host] Reboot
    [shutdown_host] Shutdown
    [screenshot] Screenshot
    [screen_on] Screen on
    [screen_off] Screen off
   *[other] { $action }
}
# The reason follows
recovery_waits = Recovery does nothing for { displays_n }:
recovery_acts = Recovery asks for { $action ->
    [restart_app] a restart
    [reboot_host] a reboot
   *[other] { $action }
} of { displays_n }:
