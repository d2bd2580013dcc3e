"""SQL on marks that stand before a gap: how long they have stood there while their display was heard."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.client_logs.rules import Boot
from shared.postgres.query import NO_ROW, Query

EVERY: Final = "interval '1 hour'"
HOURS: Final = 24
"""A display sends again within ten minutes what it has: what did not come in so many hours it has not."""


LOOK = Query(
    f"""
    WITH gapped AS MATERIALIZED (
        SELECT k.client_uuid, k.install_id, k.boot_seq, coalesce(m.seq, 0) AS seq,
            CASE WHEN h.last_heartbeat_at > CAST(:now AS timestamptz) - {EVERY} THEN 1 ELSE 0 END AS hours
        FROM (SELECT DISTINCT client_uuid, install_id, boot_seq FROM log_keys) AS k
        LEFT JOIN log_marks AS m USING (client_uuid, install_id, boot_seq)
        LEFT JOIN client_heartbeats AS h USING (client_uuid)
        WHERE m.over_at IS NULL),
    closed AS (
        DELETE FROM log_gaps AS g WHERE NOT EXISTS (SELECT FROM gapped AS o
            WHERE (o.client_uuid, o.install_id, o.boot_seq) = (g.client_uuid, g.install_id, g.boot_seq)))
    INSERT INTO log_gaps AS g (client_uuid, install_id, boot_seq, seq, looked_at)
    SELECT client_uuid, install_id, boot_seq, seq, CAST(:now AS timestamptz) FROM gapped
    ON CONFLICT (client_uuid, install_id, boot_seq) DO UPDATE
        SET seq = EXCLUDED.seq, looked_at = EXCLUDED.looked_at, hours = CASE WHEN g.seq = EXCLUDED.seq
            THEN g.hours + (SELECT o.hours FROM gapped AS o WHERE (o.client_uuid, o.install_id, o.boot_seq)
                = (g.client_uuid, g.install_id, g.boot_seq)) ELSE 0 END
        WHERE g.seq <> EXCLUDED.seq OR g.looked_at NOT BETWEEN EXCLUDED.looked_at - {EVERY} + interval '1 second'
            AND EXCLUDED.looked_at
    """,  # noqa: S608 - made of constants
    NO_ROW,
)


def look(connection: Connection, now: datetime) -> None:
    """Count an hour for each mark that stands where it stood an hour ago, if its display was heard within that hour.

    Looks that come sooner count for nothing. A mark that moved begins again.
    """
    LOOK.run(connection, now=now)


DUE = Query(
    "SELECT client_uuid, install_id, boot_seq FROM log_gaps WHERE hours >= CAST(:hours AS int) ORDER BY 1, 2, 3", Boot
)


def due(connection: Connection) -> list[Boot]:
    """The boots whose gap has stood long enough."""
    return DUE.all(connection, hours=HOURS)
