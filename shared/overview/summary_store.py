"""SQL of what each answer of the overview says of the fleet as a whole: one statement, because each poll sends it."""

from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.incidents.store import TIMES
from shared.leadership.store import LIFE
from shared.overview.rules import LAST_XID, Counts, OverviewCursor
from shared.overview.store import COUNTED, LastTick
from shared.postgres.fragments import is_mended
from shared.postgres.query import Query
from shared.recovery.evidence.store import SURROUNDINGS, Surroundings
from shared.vocabulary import IncidentKind
from shared.words.sentences import Sentence


class OngoingIncident(Struct, frozen=True):
    """An open incident of displays: how many were ever part of it, and how many still are unwell."""

    id: int
    kind: IncidentKind
    key: str
    """The site or the subnet; empty for a cluster."""
    cause: Sentence
    began_at: datetime
    group_size: int | None
    taken_by: str | None
    taken_at: datetime | None
    note: str | None
    members: int
    unwell: int
    again_of: int | None
    times: int


_SIZE: Final = "coalesce(i.group_size, (SELECT sum(CAST(value AS int)) FROM counted, jsonb_each_text(of_each)))"
_INCIDENTS: Final = f"""
    SELECT i.id, i.kind, i.key, i.cause, i.began_at, i.group_size, i.taken_by, i.taken_at, i.note,
        i.members, i.present AS unwell, i.again_of, {TIMES} AS times
    FROM incidents AS i WHERE i.closed_at IS NULL AND i.kind <> 'listening'
    ORDER BY CAST(i.present AS float8) * i.present / greatest({_SIZE}, i.present, 1) DESC, i.id DESC
    LIMIT CAST(:most_incidents AS int)"""


class FailedService(Struct, frozen=True):
    """A client with a service failure.

    `service_mended_at`: when the failure was over. `mended_since`: since when the client runs again, if it does and the
    failure is over; else null. `mended_by`: who asked for the last restart or reboot that succeeded since the failure;
    `recovery`, or null.
    """

    uuid: str
    name: str
    site: str | None
    service_failed_at: datetime
    service_failed_unit: str
    service_mended_at: datetime | None
    mended_since: datetime | None
    mended_by: str | None
    taken_by: str | None
    taken_at: datetime | None
    note: str | None


_FAILED: Final = f"""
    SELECT c.uuid, c.name, c.site, c.service_failed_at, c.service_failed_unit, c.service_mended_at,
        CASE WHEN mended.yes THEN greatest(c.status_since, c.service_failed_at) END AS mended_since,
        CASE WHEN mended.yes THEN (
            SELECT CASE k.source WHEN 'recovery' THEN 'recovery' ELSE k.requested_by END FROM client_commands AS k
            WHERE k.client_uuid = c.uuid AND k.created_at >= c.service_failed_at AND k.state = 'succeeded'
                AND k.action IN ('restart_app', 'reboot_host')
            ORDER BY k.created_at DESC LIMIT 1) END AS mended_by,
        c.service_failed_taken_by AS taken_by, c.service_failed_taken_at AS taken_at,
        c.service_failed_taken_note AS note
    FROM clients AS c LEFT JOIN client_health AS h ON h.client_uuid = c.uuid
    CROSS JOIN LATERAL (SELECT {is_mended("c", "h")} AS yes) AS mended
    WHERE c.service_failed_at IS NOT NULL AND c.deleted_at IS NULL
    ORDER BY c.service_failed_at DESC, c.uuid LIMIT CAST(:most_failures AS int)"""


_SINCE: Final = f"changed_xid BETWEEN CAST(CAST(:since AS text) AS xid8) AND '{LAST_XID}'"
"""SQL: whether a row changed in transaction `:since` or later. For a lower bound alone Postgres plans with a third of
the fleet, for two bounds with a two hundredth, so that it takes the index.
"""
_CHANGED: Final = f"""
    SELECT coalesce(json_agg(uuid), '[]') AS changed,
        coalesce(json_agg(uuid ORDER BY uuid) FILTER (WHERE is_gone), '[]') AS gone FROM (
        SELECT uuid, deleted_at IS NOT NULL AS is_gone FROM clients WHERE {_SINCE}
        UNION SELECT client_uuid, false FROM client_commands WHERE {_SINCE}
        UNION SELECT client_uuid, false FROM client_recovery WHERE {_SINCE}
        UNION SELECT client_uuid, false FROM client_limits WHERE {_SINCE}
        UNION SELECT client_uuid, false FROM incident_members WHERE {_SINCE}) AS changes"""


class FleetSummary(LastTick, frozen=True):
    """The parts of an OverviewCursor, the last tick, what the answer says of the fleet as a whole, and who changed."""

    xid: int
    epoch: str
    circumstances: str
    around: Surroundings
    counts: Counts
    service_failed: list[FailedService]
    """The newest failure first."""
    incidents: list[OngoingIncident]
    """The one that most displays of the largest part of a place are in first; a cluster's place is the fleet."""
    changed: list[str]
    """The clients that changed since the cursor of the reader, or whose command, recovery, limits or incident did."""
    gone: list[str]
    """The deleted clients among them."""

    @property
    def cursor(self) -> OverviewCursor:
        """The cursor of a reader that reads after this statement."""
        return OverviewCursor(self.epoch, self.xid, self.circumstances)


SUMMARY = Query(  # pg_snapshot_xmin and xid8 are not known to Core
    f"""
    WITH counted AS MATERIALIZED ({COUNTED})
    SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS xid, {LIFE} AS epoch,
        left(md5(concat(
            (SELECT string_agg(concat_ws(' ', basis, open_since, site), ',' ORDER BY basis, site)
                FROM recovery_breakers WHERE open_since IS NOT NULL))), 12) AS circumstances,
        s.last_tick_at, s.duration_ms, s.did, {SURROUNDINGS} AS around,
        (SELECT to_json(counted) FROM counted) AS counts,
        (SELECT coalesce(json_agg(one), '[]') FROM ({_FAILED}) AS one) AS service_failed,
        (SELECT coalesce(json_agg(one), '[]') FROM ({_INCIDENTS}) AS one) AS incidents,
        changes.changed, changes.gone
    FROM pg_database AS d CROSS JOIN scheduler_status AS s CROSS JOIN ({_CHANGED}) AS changes
    WHERE d.datname = current_database()
    """,
    FleetSummary,
)


def summary(
    connection: Connection, now: datetime, since: int | None, most_failures: int, most_incidents: int
) -> FleetSummary:
    """What this answer says of the fleet as a whole, and who changed in transaction `since` or later; None: nobody.

    `xid` is the oldest open transaction, not the newest: so a change that commits late is sent again and not lost. The
    epoch changes at each start of Postgres and with each restored database, because transaction ids may then go back.
    Its part of the circumstances are the open breakers; `operations` adds the others.
    """
    since_text = None if since is None else str(since)
    return SUMMARY.one(
        connection, now=now, since=since_text, most_failures=most_failures, most_incidents=most_incidents
    )
