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
