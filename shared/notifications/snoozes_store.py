"""SQL of snoozes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.notifications.snoozes_rules import KeptSnooze
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.fragments import END_OF_TIME
from shared.postgres.query import NO_ROW, Query
from shared.vocabulary import SnoozeScope

IS_ON: Final = "s.ended_at IS NULL AND s.until > CAST(:now AS timestamptz)"
"""SQL: `rules.KeptSnooze.is_on`."""
SNOOZE: Final = """
    s.id, s.scope, s.site, s.client_uuid, s.reason, s.until, s.created_by, s.created_at, s.ended_at, s.ended_by,
    c.name AS client_name FROM notification_snoozes AS s LEFT JOIN clients AS c ON c.uuid = s.client_uuid"""
"""SQL: the columns of a KeptSnooze, with their tables."""
INSERT = Query(
    """
    INSERT INTO notification_snoozes (scope, site, client_uuid, reason, until, created_by, created_at)
    VALUES (:scope, :site, :client_uuid, :reason, :until, :by, :now) RETURNING id
    """,
    int,
)


def insert(
    connection: Connection, now: datetime, scope: SnoozeScope, whom: str | None, until: datetime, reason: str, by: str
) -> int:
    """Insert a snooze of the fleet, or of the site or client `whom`. Returns its id."""
    site = whom if scope is SnoozeScope.SITE else None
    client_uuid = whom if scope is SnoozeScope.CLIENT else None
    values = {"scope": scope, "site": site, "client_uuid": client_uuid, "reason": reason, "until": until, "by": by}
    return INSERT.one(connection, now=now, **values)


GET = Query(f"SELECT {SNOOZE} WHERE s.id = :id", KeptSnooze)


def get(connection: Connection, snooze_id: int) -> KeptSnooze | None:
    """One snooze, or None."""
    return GET.one_or_none(connection, id=snooze_id)


@dataclass(frozen=True)
class SnoozeFilter:
    """Which snoozes a list has. Every field narrows it; None does not."""

    current: bool | None = None  # True: on; False: over or ended
    client_uuid: str | None = None  # snoozes that cover this client: its own, its site's and the fleet's


PAGE = Query(
    f"""
    SELECT {SNOOZE}
    WHERE (CAST(:current AS boolean) IS NULL OR ({IS_ON}) = :current)
        AND (CAST(:client AS text) IS NULL OR s.scope = 'fleet' OR s.client_uuid = :client
            OR s.site = (SELECT site FROM clients WHERE uuid = :client))
        AND (s.created_at, s.id) < (:before, :before_id)
    ORDER BY s.created_at DESC, s.id DESC LIMIT :limit {FOR_ITS_VALUES}
    """,  # noqa: S608 - made of constants
    KeptSnooze,
)


def page(
    connection: Connection, now: datetime, wanted: SnoozeFilter, limit: int, after: tuple[datetime, int] | None
) -> list[KeptSnooze]:
    """Up to `limit` snoozes, the newest first, after the cursor (created_at, id)."""
    before, before_id = after or (END_OF_TIME, 0)
    narrow = {"current": wanted.current, "client": wanted.client_uuid}
    return PAGE.all(connection, now=now, **narrow, before=before, before_id=before_id, limit=limit)


ON = Query(f"SELECT {SNOOZE} WHERE {IS_ON}", KeptSnooze)


def on(connection: Connection, now: datetime) -> list[KeptSnooze]:
    """Every snooze that is on."""
    return ON.all(connection, now=now)


END = Query(
    f"UPDATE notification_snoozes AS s SET ended_at = :now, ended_by = :by WHERE s.id = :id AND {IS_ON}",  # noqa: S608 - constants
    NO_ROW,
)


def end(connection: Connection, now: datetime, snooze_id: int, by: str) -> bool:
    """End a snooze; False when it has ended already or does not exist."""
    return END.run(connection, now=now, id=snooze_id, by=by) == 1


DROP_HISTORY = Query("DELETE FROM notification_snoozes WHERE until < :before", NO_ROW)


def drop_history(connection: Connection, before: datetime) -> int:
    """Delete snoozes that were over before then. Returns how many."""
    return DROP_HISTORY.run(connection, before=before)
