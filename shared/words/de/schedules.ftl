scheduler_late = Der Taktgeber war ausgefallen: Er kam { $minutes } { $minutes ->
    [one] Minute
   *[other] Minuten
} zu spät.
changed_before = Der Plan wurde { by_whom } geändert, bevor der Taktgeber kam.
cancelled_before = Der Plan wurde { by_whom } abgesagt, bevor der Taktgeber kam.

schedule_cancelled = Abgesagt { by_whom }.
schedule_next = Als Nächstes: { at_long }.
schedule_held = Angehalten:
schedule_held_back = Angehalten: Der Sammelbefehl ist angehalten.
schedule_running = Die Befehle sind unterwegs.
schedule_missed = Verpasst am { at_long }:
schedule_done = Erledigt am { at_long }.
