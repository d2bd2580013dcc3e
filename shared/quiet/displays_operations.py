"""Use case: displays keep the opening hours of their shop, and switch their screens by themselves."""

from datetime import datetime
from itertools import groupby
from operator import attrgetter

from sqlalchemy import Connection

from shared.clients import hours_operations
from shared.clients.hours_rules import version_of
from shared.quiet import displays_rules, displays_store, rules, store
from shared.quiet.displays_store import HoursOf
from shared.vocabulary import QuietPreset


def let_displays_keep(connection: Connection, now: datetime) -> int:
    """Let each display keep the opening hours that cover it, or none. Returns for how many that is a change."""
    hours = {
        time.id: displays_rules.kept_by_displays(time.spans, time.time_zone)
        for time in store.begun(connection, now)
        if time.preset is QuietPreset.OPENING_HOURS and time.time_zone is not None and rules.applies(time, now)
    }
    versions = [HoursOf(quiet_id, version_of(one)) for quiet_id, one in hours.items()]
    changed = 0
    others = displays_store.keepers_of_others(connection, versions) if versions else []
    for quiet_id, covered in groupby(sorted(others, key=attrgetter("quiet_id")), key=attrgetter("quiet_id")):
        uuids = [one.uuid for one in covered]
        changed += len(hours_operations.set_hours(connection, now, uuids, hours[quiet_id]))
    if gone := displays_store.uncovered(connection, list(hours)):
        changed += len(hours_operations.set_hours(connection, now, gone, None))
    return changed
