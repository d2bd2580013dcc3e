### Limits of a display's health: a full disk, heat, a wrong clock.

limitNames-disk = Disk
limitNames-memory = Memory
limitNames-heat = Temperature
limitNames-certificate = Certificate
limitNames-clock = Clock
limitNames-voltage = Power
limitNames-read_only = Writing
limitNames-refused = Orders

limitValues-share = { NUMBER($percent) } %
limitValues-heat = { NUMBER($degrees) } °C
limitValues-certificate = { $over ->
    [true] has ended
   *[false] ends in { $time }
}
limitValues-clock = { $how ->
    [right] right
    [fast] { $time } fast
   *[slow] { $time } slow
}
limitValues-voltage = { $low ->
    [true] too little voltage since the boot
   *[false] enough voltage since the boot
}
limitValues-read_only = { $is ->
    [true] the disk takes no writes
   *[false] the disk takes writes
}
limitValues-refused = { $some ->
    [true] not all taken
   *[false] all taken
}

limitTexts-share = limit { NUMBER($percent) } %
limitTexts-heat = limit { NUMBER($degrees) } °C
limitTexts-certificate = limit { $n } { $n ->
    [one] day
   *[other] days
} before the end
limitTexts-clock = limit { $time }

limitWords-passed = past its limit since
limitWords-stays = The trouble ends when it has been better for a quarter of an hour.
limitWords-refused = Refused by the display:
limitWords-orders-commands = commands
limitWords-orders-hours = its opening hours
limitWords-orders-log_level = its log level
limitWords-orders-look = how its screen may look
limitWords-reasons-unknown_zone = it does not know their time zone. Choose an older name of the zone, or update the display.
limitWords-reasons-unknown_level = it does not know the level.
limitWords-reasons-unsupported_version = its client is too old for this form.
limitWords-reasons-not_understood = it does not understand them.
