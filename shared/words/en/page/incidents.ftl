### Displays that failed together.

displays_members_n = { $members_n } { $members_n ->
    [one] display
   *[other] displays
}

incidentWords-title = Incidents
incidentWords-lead = Displays that failed together, with what they have in common.
incidentWords-which = Which incidents
incidentWords-open = Open
incidentWords-closed = Closed
incidentWords-number = Incident { NUMBER($id) }
incidentWords-kind-site = One site
incidentWords-kind-subnet = One network
incidentWords-kind-cluster = Several sites
incidentWords-kind-listening = Our own
incidentWords-ours = we do not hear the fleet
incidentWords-are = { $unwell_n } of { displays_members_n } still unwell
incidentWords-back = { $members_n ->
    [one] it is back
   *[other] all { $members_n } are back
}
incidentWords-were = { displays_members_n }
incidentWords-lasts = for { $time }
incidentWords-lasted = lasted { $time }
incidentWords-merged = It turned out to be part of incident { NUMBER($id) }.
incidentWords-inMaintenance = { $n } { $n ->
    [one] display is
   *[other] displays are
} in a quiet time: recovery sends nothing to them.
incidentWords-before = The one before: incident { NUMBER($id) }
incidentWords-displays = Displays
incidentWords-well = well since
incidentWords-timeline = What happened
incidentWords-noneOpen = No displays are failing together.
incidentWords-noneClosed = No incident has been closed yet.
incidentWords-maintenance = Maintenance is planned among the ….
incidentWords-failed = The incidents could not be loaded.
incidentWords-failedOne = This incident could not be loaded.
