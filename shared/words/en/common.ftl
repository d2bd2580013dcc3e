# What somebody wrote
as_given = { $text }
in_turn = { $sentences }

# $seconds_n and $seconds_unit are a duration
seconds_long = { $seconds_n } { $seconds_unit ->
    [day] { $seconds_n ->
        [one] day
       *[other] days
    }
    [hour] { $seconds_n ->
        [one] hour
       *[other] hours
    }
    [minute] { $seconds_n ->
        [one] minute
       *[other] minutes
    }
   *[second] { $seconds_n ->
        [one] second
       *[other] seconds
    }
}

# Who did it, after "by"
by_whom = { $by_kind ->
    [nobody] somebody
    [display] the display
    [service] the service
    [recovery] recovery
   *[person] { $by }
}

# $at is a time of a zone
at_long = { at_weekday } { $at_day } { at_month } { NUMBER($at_year) }, { $at_clock } { $at_zone }
at_weekday = { $at_weekday ->
    [1] Monday
    [2] Tuesday
    [3] Wednesday
    [4] Thursday
    [5] Friday
    [6] Saturday
   *[7] Sunday
}
at_month = { $at_month ->
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
}
displays_n = { $displays } { $displays ->
    [one] display
   *[other] displays
}
