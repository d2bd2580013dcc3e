weekdayWords-monday = 月
weekdayWords-tuesday = 火
weekdayWords-wednesday = 水
weekdayWords-thursday = 木
weekdayWords-friday = 金
weekdayWords-saturday = 土
weekdayWords-sunday = 日

dayNames-monday = 月曜日
dayNames-tuesday = 火曜日
dayNames-wednesday = 水曜日
dayNames-thursday = 木曜日
dayNames-friday = 金曜日
dayNames-saturday = 土曜日
dayNames-sunday = 日曜日

hoursWords-nights = { NUMBER($n) }晩
hoursWords-and = ・
