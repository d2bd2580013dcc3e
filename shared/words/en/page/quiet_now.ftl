### The quiet times that are on now, in the few words that fit on a row, on a shop's tile and in a banner.

quietNowWords-how-maintenance = In maintenance
quietNowWords-how-opening_hours = Closed
quietNowWords-how-hold = Held
quietNowWords-how-leave_out = Left out
quietNowWords-how-snooze = Snoozed
quietNowWords-how-custom = Quiet
quietNowWords-until = {" "}until { $time }
quietNowWords-by = , by { $who }
quietNowWords-cuts = It goes through a quiet time: { $what }.
quietNowWords-waiting = { $n } { $n ->
    [one] display is
   *[other] displays are
} in a quiet time that holds bulk commands back: they wait for its end.

quietBannerWords-fleet = The whole fleet
quietBannerWords-text = { $whom }: { SMALL($word) }.
quietBannerWords-many = { $n } { $n ->
    [one] shop is
   *[other] shops are
} in maintenance.
quietBannerWords-endOf = End the maintenance of { $whom }
quietBannerWords-all = Quiet times
