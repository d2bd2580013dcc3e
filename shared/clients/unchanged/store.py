"""SQL for reports that only repeat what is stored; see clients/reports/store for `clock`.

One array each of what all rows have: unnest takes a third of the time of jsonb_to_recordset.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection

from shared.clients.reports.rules import Health, Heartbeat
from shared.db import sql


@dataclass(frozen=True)
class Changes:
    """The clients that changed since an earlier look, and what to ask with the next time."""

    uuids: Sequence[str]
    cursor: str


FEW: Final = 100
"""So few changed clients are found by the index even where the table's statistics are old; more are worth a scan."""
CHANGES: Final = """
    SELECT CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS cursor,
        ARRAY(SELECT uuid FROM clients WHERE changed_xid >= CAST(:cursor AS xid8)
            ORDER BY changed_xid LIMIT CAST(:most AS int)) AS uuids
"""


def changes(connection: Connection, cursor: str | None, most: int | None = None) -> Changes:
    """What changed since the look that answered `cursor`, at `most` so many; None: only where to begin.

    A transaction that had not ended then is looked at again: nothing that it changed is missed.
    """
    row = connection.execute(sql(CHANGES), {"cursor": cursor, "most": most}).one()
    return Changes(row.uuids, row.cursor)


SAID: Final = """
    unnest(CAST(:uuids AS text[]), CAST(:heard AS float8[]), CAST(:installs AS text[]), CAST(:boots AS bigint[]),
        CAST(:seqs AS bigint[])"""
AT: Final = "CAST(:now AS timestamptz) - (CAST(:clock AS float8) - said.heard) * interval '1 second'"
REPEATED: Final = """
    stored.client_uuid = said.uuid AND stored.install_id = said.install_id AND stored.boot_seq = said.boot_seq"""
TOUCH_HEARTBEATS: Final = f"""
    UPDATE client_heartbeats AS stored SET last_heartbeat_at = {AT}, seq = said.seq
    FROM {SAID}) AS said(uuid, heard, install_id, boot_seq, seq)
    WHERE {REPEATED} AND stored.seq < said.seq
"""  # noqa: S608 - made of constants
TOUCH_HEALTH: Final = f"""
    UPDATE client_health AS stored SET received_at = {AT}, seq = said.seq, cpu_percent = said.cpu_percent,
        memory_percent = said.memory_percent, disk_percent = said.disk_percent,
        temperature_celsius = said.temperature_celsius, body = said.body
    FROM ROWS FROM ({SAID}, CAST(:cpu_percent AS float8[]), CAST(:memory_percent AS float8[]),
            CAST(:disk_percent AS float8[]), CAST(:temperature_celsius AS float8[])),
        jsonb_array_elements(CAST(:bodies AS jsonb)))
        AS said(uuid, heard, install_id, boot_seq, seq, cpu_percent, memory_percent, disk_percent,
            temperature_celsius, body)
    WHERE {REPEATED} AND stored.seq < said.seq
"""  # noqa: S608 - made of constants
MEASURES: Final = ("cpu_percent", "memory_percent", "disk_percent", "temperature_celsius")


def touch_heartbeats(connection: Connection, now: datetime, clock: float, said: Sequence[Heartbeat]) -> int:
    """Write the time and number of heartbeats, one of each client, that repeat what is stored; how many did."""
    parameters = {"now": now, "clock": clock, **_columns(said)}
    return connection.execute(sql(TOUCH_HEARTBEATS), parameters).rowcount


def touch_health(connection: Connection, now: datetime, clock: float, said: Sequence[Health]) -> int:
    """As `touch_heartbeats`, with the measurements and the whole report."""
    parameters = {"now": now, "clock": clock, **_columns(said)}
    for name in MEASURES:
        parameters[name] = _array([getattr(one, name) for one in said])
    parameters["bodies"] = msgspec.json.encode([one.body for one in said]).decode()
    return connection.execute(sql(TOUCH_HEALTH), parameters).rowcount


def untouched(connection: Connection, table: str, said: Sequence[Heartbeat] | Sequence[Health]) -> set[str]:
    """The clients of these reports whose row in `table` (client_heartbeats or client_health) is not of them."""
    statement = sql(
        f"""
        SELECT said.uuid FROM {SAID}) AS said(uuid, heard, install_id, boot_seq, seq)
        WHERE NOT EXISTS (SELECT FROM {table} AS stored WHERE {REPEATED} AND stored.seq = said.seq)
        """  # noqa: S608 - made of constants
    )
    return set(connection.execute(statement, _columns(said)).scalars())


def _columns(said: Sequence[Heartbeat] | Sequence[Health]) -> dict[str, Any]:
    return {
        "uuids": _array([one.uuid for one in said]),
        "heard": _array([one.heard for one in said]),
        "installs": _array([one.install_id for one in said]),
        "boots": _array([one.boot_seq for one in said]),
        "seqs": _array([one.seq for one in said]),
    }


def _array(values: Iterable[Any]) -> str:
    """As Postgres writes an array: as JSON does, but for control characters, which come out as others.

    Where a text has one it is compared with what is stored and found different: the report goes the long way.
    """
    return "{" + msgspec.json.encode(values).decode()[1:-1] + "}"
