"""SQL on the boots of which marks are kept."""

from collections.abc import Collection
from typing import Final

from sqlalchemy import Connection

from shared.db import sql

KEPT_OF_A_CLIENT: Final = 16
"""Boots of one client: more than any display spools. A hostile one names another boot with every message."""


def forget_older(connection: Connection, uuids: Collection[str], keep: int = KEPT_OF_A_CLIENT) -> int:
    """Forget all but the `keep` boots of each of these clients that told something last; how many."""
    statement = sql(
        """
        WITH ranked AS (
            SELECT client_uuid, install_id, boot_seq, row_number() OVER (
                PARTITION BY client_uuid ORDER BY updated_at DESC, boot_seq DESC, install_id) AS place
            FROM log_marks WHERE client_uuid = ANY(:uuids)),
        gone AS (
            DELETE FROM log_marks AS m USING ranked AS r
            WHERE r.place > :keep
                AND (m.client_uuid, m.install_id, m.boot_seq) = (r.client_uuid, r.install_id, r.boot_seq)
            RETURNING m.client_uuid, m.install_id, m.boot_seq),
        keys AS (
            DELETE FROM log_keys AS k USING gone AS g
            WHERE (k.client_uuid, k.install_id, k.boot_seq) = (g.client_uuid, g.install_id, g.boot_seq))
        SELECT count(*) FROM gone
        """
    )
    return int(connection.execute(statement, {"uuids": sorted(uuids), "keep": keep}).scalar_one())
