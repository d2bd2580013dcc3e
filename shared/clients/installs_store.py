"""SQL on the installations of each client, in the order in which they were first seen."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection


def note(connection: Connection, now: datetime, installs: Sequence[tuple[str, str]]) -> None:
    """(uuid, install_id) in order of arrival: an installation never seen before becomes its client's newest."""
    statement = sa.text(
        """
        INSERT INTO client_installs (client_uuid, install_id, ordinal, first_seen_at)
        SELECT uuid, install_id, row_number() OVER (PARTITION BY uuid ORDER BY place)
            + coalesce((SELECT max(i.ordinal) FROM client_installs AS i WHERE i.client_uuid = said.uuid), 0),
            CAST(:now AS timestamptz)
        FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(uuid text, install_id text, place int)
        WHERE NOT EXISTS (
            SELECT FROM client_installs AS i WHERE i.client_uuid = said.uuid AND i.install_id = said.install_id)
        ON CONFLICT DO NOTHING
        """
    )
    rows = [{"uuid": uuid, "install_id": install, "place": n} for n, (uuid, install) in enumerate(installs)]
    connection.execute(statement, {"now": now, "rows": msgspec.json.encode(rows).decode()})


def forget(connection: Connection, uuids: Sequence[str], keep: int) -> int:
    """Forget all but the newest `keep` installations of each of these clients; how many."""
    statement = sa.text(
        """
        DELETE FROM client_installs AS i
        USING (SELECT client_uuid, max(ordinal) AS newest FROM client_installs
            WHERE client_uuid = ANY(:uuids) GROUP BY client_uuid) AS latest
        WHERE i.client_uuid = latest.client_uuid AND i.ordinal <= latest.newest - :keep
        """
    )
    return connection.execute(statement, {"uuids": uuids, "keep": keep}).rowcount
