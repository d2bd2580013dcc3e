"""SQL on the installations of each client, in the order in which they were first seen."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query


class SeenInstall(NamedTuple):
    """An installation of a client, with its place in the order of arrival."""

    uuid: str
    install_id: str
    place: int


SEEN: Final = ManyRows("said", SeenInstall)
NOTE = Query(
    f"""
    INSERT INTO client_installs (client_uuid, install_id, ordinal, first_seen_at)
    SELECT uuid, install_id, row_number() OVER (PARTITION BY uuid ORDER BY place)
        + coalesce((SELECT max(i.ordinal) FROM client_installs AS i WHERE i.client_uuid = said.uuid), 0),
        CAST(:now AS timestamptz)
    FROM {SEEN}
    WHERE NOT EXISTS (
        SELECT FROM client_installs AS i WHERE i.client_uuid = said.uuid AND i.install_id = said.install_id)
    ON CONFLICT DO NOTHING
    """,
    NO_ROW,
)


def note(connection: Connection, now: datetime, installs: Sequence[tuple[str, str]]) -> None:
    """Store (uuid, install_id) in order of arrival: an unknown installation becomes its client's newest."""
    rows = [SeenInstall(uuid, install, place) for place, (uuid, install) in enumerate(installs)]
    NOTE.run(connection, now=now, **SEEN.of(rows))


@query.run(
    """
    DELETE FROM client_installs AS i
    USING (SELECT client_uuid, max(ordinal) AS newest FROM client_installs
        WHERE client_uuid = ANY(:uuids) GROUP BY client_uuid) AS latest
    WHERE i.client_uuid = latest.client_uuid AND i.ordinal <= latest.newest - :keep
    """
)
def forget(connection: Connection, uuids: Sequence[str], keep: int) -> int:
    """Delete all but the newest `keep` installations of each of these clients. Returns how many."""
