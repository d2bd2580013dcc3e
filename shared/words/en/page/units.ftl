### Units of time, short, and the age of something.

unitWords-second = s
unitWords-minute = min
unitWords-hour = h
unitWords-day = d
unitWords-space = {" "}
unitWords-ago = { $age } ago
