weekdayWords-monday = Mo
weekdayWords-tuesday = Di
weekdayWords-wednesday = Mi
weekdayWords-thursday = Do
weekdayWords-friday = Fr
weekdayWords-saturday = Sa
weekdayWords-sunday = So

dayNames-monday = Montag
dayNames-tuesday = Dienstag
dayNames-wednesday = Mittwoch
dayNames-thursday = Donnerstag
dayNames-friday = Freitag
dayNames-saturday = Samstag
dayNames-sunday = Sonntag

hoursWords-nights = { $n } { $n ->
    [one] Nacht
   *[other] Nächte
}
hoursWords-and = {" "}und{" "}
