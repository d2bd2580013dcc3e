### The days of the week, and hours of them.

weekdayWords-monday = Mon
weekdayWords-tuesday = Tue
weekdayWords-wednesday = Wed
weekdayWords-thursday = Thu
weekdayWords-friday = Fri
weekdayWords-saturday = Sat
weekdayWords-sunday = Sun

dayNames-monday = Monday
dayNames-tuesday = Tuesday
dayNames-wednesday = Wednesday
dayNames-thursday = Thursday
dayNames-friday = Friday
dayNames-saturday = Saturday
dayNames-sunday = Sunday

hoursWords-nights = { NUMBER($n) } nights
hoursWords-and = {" "}and{" "}
