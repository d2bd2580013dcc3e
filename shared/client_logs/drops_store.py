"""SQL on the lines that tell how many messages of a client were dropped."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.client_logs.drops_rules import DropRow

MESSAGE: Final = "said.count || ' log messages dropped: over the budget of this client'"
CONTEXT: Final = "jsonb_build_object('dropped', said.count)"


def begin(connection: Connection, now: datetime, dropped: Mapping[str, int]) -> dict[str, DropRow]:
    """Begin a line that tells how many messages were dropped, for each of these that is a client."""
    statement = sa.text(
        f"""
        INSERT INTO client_logs (client_uuid, level, logger, message, context, received_at)
        SELECT uuid, 'warning', 'bridge', {MESSAGE}, {CONTEXT}, CAST(:now AS timestamptz)
        FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(uuid text, count bigint)
        WHERE EXISTS (SELECT FROM clients AS c WHERE c.uuid = said.uuid AND c.deleted_at IS NULL)
        ORDER BY uuid
        RETURNING client_uuid, id
        """  # noqa: S608 - two constants
    )
    rows = [{"uuid": uuid, "count": count} for uuid, count in dropped.items()]
    found = connection.execute(statement, {"now": now, "rows": msgspec.json.encode(rows).decode()})
    return {row.client_uuid: DropRow(row.id, now, dropped[row.client_uuid]) for row in found}


def raise_counts(connection: Connection, rows: Iterable[DropRow]) -> None:
    """Let lines that `begin` began tell these counts."""
    statement = sa.text(
        f"""
        UPDATE client_logs AS l SET message = {MESSAGE}, context = {CONTEXT}
        FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(id bigint, received_at timestamptz, count bigint)
        WHERE (l.id, l.received_at) = (said.id, said.received_at) AND l.level = 'warning'
        """  # noqa: S608 - two constants
    )
    connection.execute(statement, {"rows": msgspec.json.encode(list(rows)).decode()})
