"""Use case of opening hours: say which ones displays keep. The bridge sends them, and sends them again."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection

from shared.clients import hours_rules, hours_store
from shared.clients.hours_rules import OpeningHours


def set_hours(connection: Connection, now: datetime, uuids: Collection[str], hours: OpeningHours | None) -> list[str]:
    """Let these clients keep these hours, or (None) none. Returns the clients for which that is a change.

    The same hours twice change nothing. A display that cannot switch its screen is sent none.

    Raises:
        Refused: no display could follow these hours.
        TimeZoneUnknown: there is no such time zone.
    """
    if hours is None:
        return hours_store.clear(connection, uuids)
    hours_rules.check(hours)
    return hours_store.put(connection, now, uuids, hours_rules.version_of(hours), hours_rules.document(hours))
