"""SQL of marks in front of a gap: how long they have been there while their display was heard."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.client_logs.rules import Boot
from shared.postgres import query
from shared.postgres.query import Query

EVERY: Final = "interval '1 hour'"
HOURS: Final = 24
"""Hours after which a gap is given up: a display repeats its lines within ten minutes, so it no longer has these."""


@query.run(
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
    """
)
def look(connection: Connection, now: datetime) -> None:
    """Count an hour for each mark that did not move within the last hour, if its display was heard in that hour.

    An earlier call counts nothing. A mark that moved starts again at 0.
    """


DUE = Query(
    "SELECT client_uuid, install_id, boot_seq FROM log_gaps WHERE hours >= CAST(:hours AS int) ORDER BY 1, 2, 3", Boot
)


def due(connection: Connection) -> list[Boot]:
    """The boots whose gap is to be given up."""
    return DUE.all(connection, hours=HOURS)
