"""SQL of reports that only repeat the stored report.

Rows are parameters as one array for each column: unnest takes a third of the time of jsonb_to_recordset.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct
from sqlalchemy import Connection

from shared.clients import limits_store
from shared.clients.repeats.rules import StoredReports
from shared.clients.reports.health_store import page_after
from shared.clients.reports.rules import HealthReport, Heartbeat
from shared.postgres import query
from shared.postgres.fragments import arrived_at, is_bad, screen_fails
from shared.postgres.query import NO_ROW, Query


class Changes(Struct, frozen=True):
    """The clients that changed since an earlier query, and the cursor of the next one."""

    cursor: str
    uuids: list[str]


FEW: Final = 100
"""Up to so many changed clients Postgres uses the index, even with old statistics; for more a scan is cheaper."""


@query.one(
    """
    SELECT CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS cursor,
        ARRAY(SELECT uuid FROM clients WHERE changed_xid >= CAST(:cursor AS xid8)
            ORDER BY changed_xid LIMIT CAST(:most AS int)) AS uuids
    """
)
def changes(connection: Connection, cursor: str | None, most: int | None = None) -> Changes:
    """The clients that changed since the query that returned `cursor`, at `most` so many; None: only a first cursor.

    Transactions that were open at that query are included again, so that no change is missed.
    """


KNOWN_HEALTH: Final = f"""
    CASE WHEN {is_bad("c.screen_health")} AND NOT {screen_fails("c")}
        THEN '[null, null, null]' ELSE json_build_array(r.install_id, r.boot_seq, r.seq) END"""
"""A bad screen may be a failure from the next report on, so that no report repeats this one."""
RECALL = Query(
    f"""
    SELECT coalesce(CAST(json_agg(json_build_array(c.uuid, c.process_status, h.interval_seconds, h.boot_id,
        h.app_instance, json_build_array(h.install_id, h.boot_seq, h.seq),
        {KNOWN_HEALTH}, c.screen_health, c.log_level, c.app_version, c.os, c.ip,
        c.hostname, c.capabilities, c.mqtt_reconnect_count, extract(epoch FROM c.mqtt_last_disconnect_at),
        c.screen_off_by, c.hours_version)) AS text),
        '[]')
    FROM unnest(CAST(:uuids AS text[])) AS said(uuid)
    JOIN clients AS c ON c.uuid = said.uuid AND c.deleted_at IS NULL
    LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid AND c.status = CAST(c.process_status AS text)
    LEFT JOIN client_health AS r ON r.client_uuid = c.uuid
    """,
    str,
)
"""One JSON text of all rows, which takes a fraction of the time of separate values.

Without heartbeats that change the shown state: those of clients shown as late or stale, for example.
"""
_stored: Final = msgspec.json.Decoder(list[StoredReports]).decode


def recall(connection: Connection, uuids: Collection[str]) -> list[StoredReports]:
    """The newest stored reports of these uuids, as far as they are clients."""
    return _stored(RECALL.one(connection, uuids=_array(uuids)))


SAID: Final = """
    unnest(CAST(:uuids AS text[]), CAST(:heard AS float8[]), CAST(:installs AS text[]), CAST(:boots AS bigint[]),
        CAST(:seqs AS bigint[])"""
"""The arguments of `unnest` without its closing bracket: a query may add more of them."""
AT: Final = arrived_at("said")
REPEATED: Final = """
    stored.client_uuid = said.uuid AND stored.install_id = said.install_id AND stored.boot_seq = said.boot_seq"""
TOUCH_HEARTBEATS = Query(
    f"""
    UPDATE client_heartbeats AS stored SET last_heartbeat_at = {AT}, seq = said.seq
    FROM {SAID}) AS said(uuid, heard, install_id, boot_seq, seq)
    WHERE {REPEATED} AND stored.seq < said.seq
    """,
    NO_ROW,
)
MEASURES: Final = {  # field of a report that a repetition may change -> its type in Postgres
    **dict.fromkeys(("cpu_percent", "memory_percent", "disk_percent", "temperature_celsius"), "float8"),
    "certificate_ends_at": "float8",
    "under_voltage": "boolean",
    "said_at": "float8",
    "disk_writable": "boolean",
    "refused": "text",
    "page": "text",
}
TOUCH_HEALTH = Query(
    f"""
    UPDATE client_health AS stored SET received_at = {AT}, previous_at = stored.received_at, seq = said.seq,
        cpu_percent = said.cpu_percent,
        memory_percent = said.memory_percent, disk_percent = said.disk_percent,
        temperature_celsius = said.temperature_celsius,
        {", ".join(f"{column} = {value}" for column, value in limits_store.told(AT).items())},
        page = {page_after("CAST(said.page AS jsonb)", "stored.page")}, body = said.body
    FROM ROWS FROM ({SAID}, {", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in MEASURES.items())}),
        jsonb_array_elements(CAST(:bodies AS jsonb)))
        AS said(uuid, heard, install_id, boot_seq, seq, {", ".join(MEASURES)}, body)
    WHERE {REPEATED} AND stored.seq < said.seq
    """,
    NO_ROW,
)


def touch_heartbeats(connection: Connection, now: datetime, clock: float, reports: Mapping[str, str]) -> int:
    """Write time and number of heartbeats that repeat the stored one. Returns how many rows.

    `reports` are the `columns` of one heartbeat of each client.
    """
    return TOUCH_HEARTBEATS.run(connection, now=now, clock=clock, **reports)


def touch_health(connection: Connection, now: datetime, clock: float, reports: Mapping[str, str]) -> int:
    """Write time, number, measurements and body of health reports; `reports` are their `columns_of_health`."""
    return TOUCH_HEALTH.run(connection, now=now, clock=clock, **reports)


def _untouched(table: str) -> str:
    """SQL: the clients of these reports whose row in this table has another report."""
    return f"""
        SELECT said.uuid FROM {SAID}) AS said(uuid, heard, install_id, boot_seq, seq)
        WHERE NOT EXISTS (SELECT FROM {table} AS stored WHERE {REPEATED} AND stored.seq = said.seq)
    """


UNTOUCHED_HEARTBEATS = Query(_untouched("client_heartbeats"), str)
UNTOUCHED_HEALTH = Query(_untouched("client_health"), str)


def untouched_heartbeats(connection: Connection, reports: Mapping[str, str]) -> set[str]:
    """The clients of these `columns` whose stored heartbeat differs."""
    return set(UNTOUCHED_HEARTBEATS.all(connection, **reports))


def untouched_health(connection: Connection, reports: Mapping[str, str]) -> set[str]:
    """The clients of these `columns` whose stored health report differs."""
    return set(UNTOUCHED_HEALTH.all(connection, **reports))


def columns(reports: Sequence[Heartbeat] | Sequence[HealthReport]) -> dict[str, str]:
    """Reports as parameters of these statements: one array for each column."""
    return {
        "uuids": _array([one.uuid for one in reports]),
        "heard": _array([one.heard for one in reports]),
        "installs": _array([one.install_id for one in reports]),
        "boots": _array([one.boot_seq for one in reports]),
        "seqs": _array([one.seq for one in reports]),
    }


def columns_of_health(reports: Sequence[HealthReport]) -> dict[str, str]:
    """Like `columns`, for health reports with measurements and body."""
    measured = {name: _array([getattr(one, name) for one in reports]) for name in MEASURES}
    return {**columns(reports), **measured, "bodies": msgspec.json.encode([one.body for one in reports]).decode()}


def _array(values: Iterable[Any]) -> str:
    """An array in the syntax of Postgres, which equals JSON's except for control characters.

    A text with a control character differs from the stored one, so its report does not count as a repeat.
    """
    return "{" + msgspec.json.encode(values).decode()[1:-1] + "}"
