unitWords-second = Sek.
unitWords-minute = Min.
unitWords-hour = Std.
unitWords-day = Tg.
unitWords-space = {"\u00A0"}
unitWords-ago = vor { $age }
