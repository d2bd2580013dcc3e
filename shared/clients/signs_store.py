"""SQL of signs of life. `h` is a row of client_heartbeats, `:stale` HEARTBEAT_STALE_SECONDS."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.clients.reports.rules import LATE_AT_LEAST, LATE_INTERVALS, STALE_INTERVALS
from shared.clients.signs_rules import COUNTS_AFTER
from shared.postgres import query
from shared.postgres.fragments import arrived_at
from shared.postgres.query import NO_ROW, Query

THRESHOLD: Final = f"greatest(CAST(:stale AS int), {STALE_INTERVALS} * h.interval_seconds) * interval '1 second'"
"""SQL: `reports.rules.stale_after`."""

LATE_AFTER: Final = f"""greatest(
    {LATE_AT_LEAST.total_seconds()}, {LATE_INTERVALS} * h.interval_seconds) * interval '1 second'"""
"""SQL: `reports.rules.late_after`."""

LAST_SIGN: Final = "greatest(h.last_heartbeat_at, h.sign_at)"
"""SQL: `signs_rules.last_sign`."""

SILENT: Final = f"{LAST_SIGN} < CAST(:now AS timestamptz) - {THRESHOLD}"
"""SQL: `signs_rules.is_silent_by_age`."""

MAY_BE_MUTE: Final = "c.status = 'unknown' AND h.sign_at > h.last_heartbeat_at"
"""SQL: whether a client is shown as unknown and its last message was not a heartbeat."""

RECORD = Query(
    f"""
    UPDATE client_heartbeats AS h SET sign_at = said.at FROM (
        SELECT told.uuid, {arrived_at("told")} AS at
        FROM unnest(CAST(:uuids AS text[]), CAST(:heard AS float8[])) AS told(uuid, heard)) AS said
    WHERE h.client_uuid = said.uuid AND said.at > coalesce(h.sign_at, '-infinity')
        AND said.at > h.last_heartbeat_at + {COUNTS_AFTER} * {THRESHOLD}
    """,
    NO_ROW,
)


def record(connection: Connection, now: datetime, clock: float, heard: Mapping[str, float], stale_seconds: int) -> int:
    """Store these signs for clients whose last heartbeat is old enough. Returns how many."""
    values = {"uuids": list(heard), "heard": list(heard.values()), "now": now, "clock": clock, "stale": stale_seconds}
    return RECORD.run(connection, **values)


@query.rows(
    f"""
    SELECT c.uuid FROM clients AS c JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    WHERE c.uuid = ANY(CAST(:uuids AS text[])) AND {MAY_BE_MUTE}
    """
)
def mute(connection: Connection, uuids: Collection[str]) -> list[str]:
    """The clients among these that may be mute."""


REFUSED_LATELY: Final = """(SELECT json_agg(d) FROM (
    SELECT split_part(topic, '/', 3) AS kind, reason, CAST(sum(count) AS bigint) AS count, max(last_at) AS last_at
    FROM dead_letters WHERE sender = c.uuid AND last_at > now() - interval '1 day'
    GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2) AS d)"""
"""SQL: the refused messages of client `c` within a day, the most frequent first, or null.

A JSON array of {kind, reason, count, last_at}. A payload that also came earlier is counted with all its arrivals.
"""
