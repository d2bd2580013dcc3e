"""SQL of the overview, which reads several nouns' tables, and of the scheduler's status.

Postgres writes the rows of the fleet as JSON text. For ten thousand clients that takes 45 ms; converting each value to
Python and back would take 500 ms.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients.signs_store import MAY_BE_MUTE
from shared.overview.rules import Counts
from shared.postgres import query
from shared.postgres.fragments import is_unwell, occupies, screen_failed_since, screen_fails
from shared.postgres.query import NO_ROW, Query
from shared.recovery.evidence.rules import RecoveryFacts
from shared.recovery.evidence.store import facts_in, facts_of


def _quoted(text: str) -> str:
    """SQL: a word that needs no escaping as JSON, or null."""
    return f"coalesce('\"' || {text} || '\"', 'null')"


def _escaped(value: str) -> str:
    """SQL: any value as JSON, or null."""
    return f"coalesce(to_json({value})::text, 'null')"


def _second(moment: str) -> str:
    """SQL: a time as JSON, cut to its second: enough to show an age, and it compresses three times better."""
    return f"""coalesce(left(to_json({moment} AT TIME ZONE 'UTC')::text, 20) || 'Z"', 'null')"""


def _exact(moment: str) -> str:
    """SQL: a time as JSON, in the form of all other answers."""
    fraction = f"""CASE WHEN date_trunc('second', {moment}) = {moment} THEN '"Z"' ELSE '.US"Z"' END"""
    return _quoted(f"""to_char({moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS' || {fraction})""")


_OPEN_COMMAND: Final = f"""
    CASE WHEN k.id IS NULL THEN 'null' ELSE concat('{{"id":"', k.id, '","action":"', k.action, '","state":"', k.state,
        '","source":"', k.source, '","created_at":', {_exact("k.created_at")},
        ',"expires_at":', {_exact("k.expires_at")}, '}}') END"""
COLUMNS: Final[Mapping[str, str]] = {
    "uuid": _quoted("c.uuid"),
    "name": _escaped("c.name"),
    "site": _escaped("c.site"),
    "tags": _escaped("c.tags"),
    "process_status": _quoted("c.process_status"),
    "status": _quoted("c.status"),
    "status_since": _second("c.status_since"),
    "last_heartbeat_at": _second("h.last_heartbeat_at"),
    "screen_health": _quoted("c.screen_health"),
    "screen_failed_since": _second(screen_failed_since("c")),
    "limits": "coalesce(l.limits, '[]')",
    "service_failed_at": _exact("c.service_failed_at"),
    "service_failed_unit": _escaped("c.service_failed_unit"),
    "service_mended_at": _second("c.service_mended_at"),
    "mqtt_reconnect_count": "coalesce(c.mqtt_reconnect_count::text, 'null')",
    "mqtt_last_disconnect_at": _exact("c.mqtt_last_disconnect_at"),
    "shared_login_seen_at": _exact("c.shared_login_seen_at"),
    "presence": _quoted("c.presence"),
    "app_version": _escaped("c.app_version"),
    "ip": _escaped("c.ip"),
    "hostname": _escaped("c.hostname"),
    "lockout_until": _exact("c.lockout_until"),
    "recovery": "coalesce(CAST(:recovery AS jsonb) ->> c.uuid, 'null')",
    "open_command": _OPEN_COMMAND,
    "incident_id": "coalesce(m.incident_id::text, 'null')",
}
"""The overview's fields of each client, in this order: name -> SQL that writes the value as JSON.

A new field also goes into `packed_store`, and into the API's `Packed` and `shapes.Client`. The page takes a packed
field for a time by its name: `…_at`, `…_since`, `…_until` (dashboard/lib/packed.js).
"""


_LIMITS: Final = f"""
    SELECT client_uuid, '[' || string_agg(concat('{{"limit":"', kind, '","value":', value, ',"at":', limit_at,
        ',"since":', {_second("over_since")}, '}}'), ',' ORDER BY kind) || ']' AS limits
    FROM client_limits WHERE passed_at IS NOT NULL GROUP BY client_uuid"""
"""SQL: the limits that each display passes, as JSON; joined once, for a lookup for each display would cost more."""


def in_order(which: str) -> str:
    """SQL: the tables of COLUMNS, limited to clients for which `which` holds, ordered by name and uuid."""
    return f"""
        FROM clients AS c
        LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
        LEFT JOIN client_commands AS k ON k.client_uuid = c.uuid AND {occupies("k")}
        LEFT JOIN ({_LIMITS}) AS l ON l.client_uuid = c.uuid
        LEFT JOIN incident_members AS m ON m.client_uuid = c.uuid AND m.left_at IS NULL
        WHERE c.deleted_at IS NULL AND {which}
        ORDER BY c.name COLLATE "C", c.uuid
    """


def _rows(which: str) -> str:
    """SQL: the clients for which `which` holds: the inside of a JSON array of rows."""
    return f"""
        SELECT coalesce(string_agg(row, ','), '') FROM (
            SELECT '[' || concat_ws(',', {", ".join(COLUMNS.values())}) || ']' AS row {in_order(which)}) AS listed
    """


NAMED: Final = "c.uuid = ANY(string_to_array(CAST(:uuids AS text), ','))"
"""SQL: whether the client is one of `uuids`, given as one text because pg8000 is slow at writing lists."""


class LastTick(Struct, frozen=True):
    """What the last tick did; `last_tick_at` is None before the first."""

    last_tick_at: datetime | None
    duration_ms: int | None
    did: dict[str, Any]


WHOLE_FLEET = Query(_rows("true"), str)
SOME_CLIENTS = Query(_rows(NAMED), str)


def whole_fleet(connection: Connection, recovery: Mapping[str, str]) -> str:
    """All clients, ordered by name and uuid: the inside of a JSON array of rows in the order of COLUMNS.

    `recovery`: uuid of an unwell client -> what recovery does about it, as JSON text.
    """
    return WHOLE_FLEET.one(connection, recovery=json.dumps(recovery))


def some_clients(connection: Connection, uuids: Sequence[str], recovery: Mapping[str, str]) -> str:
    """The same for these clients, without deleted ones."""
    return SOME_CLIENTS.one(connection, recovery=json.dumps(recovery), uuids=",".join(uuids)) if uuids else ""


@query.one("SELECT concat_ws(' ', count(*), sum(hashtextextended(uuid, 0))) FROM clients WHERE deleted_at IS NULL")
def which_clients(connection: Connection) -> str:
    """A text that differs when other clients are in the fleet, or in the part of it that this transaction sees."""


UNWELL_AMONG = Query(facts_of(f"{NAMED} AND ({is_unwell('c')} OR {MAY_BE_MUTE})"), str)


@query.rows(
    f"""
    SELECT c.uuid FROM clients AS c WHERE {is_unwell("c")} AND c.deleted_at IS NULL
    UNION SELECT c.uuid FROM clients AS c JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    WHERE {MAY_BE_MUTE} AND c.deleted_at IS NULL
    """
)
def unwell(connection: Connection) -> list[str]:
    """The clients that recovery may have to help."""


def unwell_among(connection: Connection, uuids: Sequence[str]) -> list[RecoveryFacts]:
    """Recovery's facts about those of these clients that `unwell` would name."""
    return facts_in(UNWELL_AMONG.one(connection, uuids=",".join(uuids))) if uuids else []


@query.one(
    f"""
    SELECT coalesce(string_agg(concat('["', c.uuid, '",', {_second("h.last_heartbeat_at")}, ']'), ','), '')
    FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid WHERE c.deleted_at IS NULL
    """
)
def heartbeats(connection: Connection) -> str:
    """The last heartbeats of all clients that were ever heard: the inside of a JSON array of [uuid, time]."""


COUNTED: Final = f"""
    SELECT coalesce(jsonb_object_agg(status, number), '{{}}') AS of_each,
        CAST(coalesce(sum(recorded) - max(ended.mended), 0) AS int) AS service_failed,
        coalesce(max(ended.mended), 0) AS service_mended,
        (SELECT count(*) FROM clients AS c WHERE {screen_fails("c")} AND c.deleted_at IS NULL) AS screen_failed,
        (SELECT count(DISTINCT c.uuid) FROM client_limits AS l JOIN clients AS c ON c.uuid = l.client_uuid
            WHERE l.passed_at IS NOT NULL AND c.deleted_at IS NULL) AS limit_passed
    FROM (SELECT status, count(*) AS number, count(service_failed_at) AS recorded FROM clients
            WHERE deleted_at IS NULL GROUP BY status) AS counted
    CROSS JOIN (SELECT CAST(count(*) AS int) AS mended FROM clients
        WHERE service_failed_at IS NOT NULL AND service_mended_at IS NOT NULL AND deleted_at IS NULL) AS ended"""
"""SQL: the columns of `Counts`, in one statement, because each poll of the page reads them."""


@query.one(COUNTED)
def counts(connection: Connection) -> Counts:
    """The counts of all clients."""


@query.one("SELECT last_tick_at, duration_ms, did FROM scheduler_status")
def scheduler(connection: Connection) -> LastTick:
    """What the last tick did."""


RECORD_TICK = Query(
    """
    UPDATE scheduler_status SET last_tick_at = :now, duration_ms = :duration_ms, did = :did
    WHERE last_tick_at IS NULL OR last_tick_at <= :now
    """,
    NO_ROW,
)


def record_tick(connection: Connection, now: datetime, duration_ms: int, did: Mapping[str, Any]) -> None:
    """Record what a tick did; an older tick that ends late does not overwrite a newer one."""
    RECORD_TICK.run(connection, now=now, duration_ms=duration_ms, did=json.dumps(did))


@query.run("UPDATE scheduler_status SET last_tick_at = :now WHERE last_tick_at > :now")
def forget_future_tick(connection: Connection, now: datetime) -> None:
    """Replace a future time of the last tick by now, so that the present tick can be recorded."""
