"""SQL of the boots whose marks are kept."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from shared.postgres.query import Query

KEPT_OF_A_CLIENT: Final = 16
"""How many boots of a client are kept at any age."""
KEPT_AT_MOST: Final = 1_000
"""The most boots of a client: above what any display spools. A hostile one sends another boot with every message."""
COMES_AGAIN: Final = timedelta(days=1)  # a display that is on sends its spool again within ten minutes


FORGET_OLDER = Query(
    """
    WITH ranked AS (
        SELECT client_uuid, install_id, boot_seq, updated_at, row_number() OVER (
            PARTITION BY client_uuid ORDER BY updated_at DESC, boot_seq DESC, install_id) AS place
        FROM log_marks WHERE client_uuid = ANY(:uuids)),
    gone AS (
        DELETE FROM log_marks AS m USING ranked AS r
        WHERE (r.place > :at_most OR r.place > :keep AND r.updated_at < :before)
            AND (m.client_uuid, m.install_id, m.boot_seq) = (r.client_uuid, r.install_id, r.boot_seq)
        RETURNING m.client_uuid, m.install_id, m.boot_seq),
    keys AS (
        DELETE FROM log_keys AS k USING gone AS g
        WHERE (k.client_uuid, k.install_id, k.boot_seq) = (g.client_uuid, g.install_id, g.boot_seq))
    SELECT count(*) FROM gone
    """,
    int,
)


def forget_older(
    connection: Connection,
    now: datetime,
    uuids: Collection[str],
    keep: int = KEPT_OF_A_CLIENT,
    at_most: int = KEPT_AT_MOST,
) -> int:
    """Delete the boots of these clients that logged nothing for a day. Returns how many.

    The last `keep` boots of a client always stay, but never more than `at_most`.
    """
    before = now - COMES_AGAIN
    return FORGET_OLDER.one(connection, uuids=sorted(uuids), keep=keep, at_most=at_most, before=before)
