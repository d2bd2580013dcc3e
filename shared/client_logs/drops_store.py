"""SQL of the lines that count dropped messages of a client."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from shared.client_logs.drops_rules import DropRow
from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.postgres.query import Query

MESSAGE: Final = "said.count || ' log messages dropped: over the budget of this client'"
CONTEXT: Final = "jsonb_build_object('dropped', said.count)"


class Dropped(Struct, frozen=True):
    """How many messages of a client were dropped."""

    uuid: str
    count: int


class BegunLine(NamedTuple):
    """The id of a client's new line."""

    uuid: str
    id: int


DROPPED, RAISED = ManyRows("said", Dropped), ManyRows("said", DropRow)
BEGIN = Query(
    f"""
    INSERT INTO client_logs (client_uuid, level, logger, message, context, received_at)
    SELECT uuid, 'warning', 'bridge', {MESSAGE}, {CONTEXT}, CAST(:now AS timestamptz)
    FROM {DROPPED}
    WHERE EXISTS (SELECT FROM clients AS c WHERE c.uuid = said.uuid AND c.deleted_at IS NULL)
    ORDER BY uuid
    RETURNING client_uuid, id
    """,
    BegunLine,
)


def begin(connection: Connection, now: datetime, dropped: Mapping[str, int]) -> dict[str, DropRow]:
    """Add a line with the number of dropped messages for each of these uuids that is a client."""
    begun = BEGIN.all(connection, now=now, **DROPPED.of([Dropped(*item) for item in dropped.items()]))
    return {uuid: DropRow(line, now, dropped[uuid]) for uuid, line in begun}


@query.run(
    f"""
    UPDATE client_logs AS l SET message = {MESSAGE}, context = {CONTEXT}
    FROM {RAISED} WHERE (l.id, l.received_at) = (said.id, said.received_at) AND l.level = 'warning'
    """,
    RAISED,
)
def raise_counts(connection: Connection, rows: Collection[DropRow]) -> None:
    """Write these counts into lines of `begin`."""
