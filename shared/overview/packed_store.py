"""SQL of the packed overview: Postgres writes each column as one JSON text, in one pass over the fleet."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection

from shared.overview.store import COLUMNS, NAMED, in_order
from shared.postgres.fragments import screen_failed_since
from shared.postgres.query import Query

_BYTES: Final = "decode(replace(string_agg(uuid, ''), '-', ''), 'hex')"
_UUIDS: Final = f"""concat('"', replace(encode({_BYTES}, 'base64'), chr(10), ''), '"') AS uuid"""
"""SQL: the bytes of all uuids in base64, as JSON, without the line breaks of Postgres, which JSON does not allow."""


def _whole(moment: str) -> str:
    """SQL: a time cut to its second. `date_trunc` would take five times as long, because it uses the calendar of the
    session's time zone.
    """
    return f"date_bin('1 second', {moment}, timestamptz '0001-01-01 00:00:00+00')"


def _ago(moment: str) -> str:
    """SQL: the seconds from a time, cut to its second, to `second` (since 1970)."""
    return f"CAST(:second AS bigint) - CAST(date_part('epoch', {_whole(moment)}) AS bigint)"


def _number(value: str) -> str:
    """SQL: a whole number as JSON, or null."""
    return f"coalesce(CAST({value} AS text), 'null')"


def _exactly_ago(moment: str) -> str:
    """SQL: the same as JSON; for a time with a fraction, a text that adds its six digits."""
    ago = f"CAST({_ago(moment)} AS text)"
    return f"""coalesce(CASE WHEN {_whole(moment)} <> {moment}
        THEN concat('"', {ago}, to_char({moment}, '.US'), '"') ELSE {ago} END, 'null')"""


_WORDS: Final[Mapping[str, str]] = {
    **{name: f"CAST(c.{name} AS text)" for name in ("process_status", "screen_health")},
    **{name: f"c.{name}" for name in ("status", "presence")},
}
"""Columns with words of `vocabulary`: they are never null and need no escaping, so they are only joined."""
_VALUES: Final[Mapping[str, str]] = {
    name: f"c.{name}" for name in ("name", "site", "app_version", "ip", "hostname", "service_failed_unit")
}
"""Columns that `json_agg` writes. It puts a blank after each comma: between words it compresses to nothing, but between
numbers it would cost some bits each.
"""
_WRITTEN: Final[Mapping[str, str]] = {
    "status_since": _number(_ago("c.status_since")),
    "last_heartbeat_at": _number(_ago("h.last_heartbeat_at")),
    "mqtt_reconnect_count": _number("c.mqtt_reconnect_count"),
    "tags": f"CASE WHEN c.tags = '{{}}' THEN '[]' ELSE {COLUMNS['tags']} END",  # most have none
    "screen_failed_since": _number(_ago(screen_failed_since("c"))),
    "service_failed_at": _exactly_ago("c.service_failed_at"),
    "service_mended_at": _number(_ago("c.service_mended_at")),
    "mqtt_last_disconnect_at": _exactly_ago("c.mqtt_last_disconnect_at"),
    "shared_login_seen_at": _exactly_ago("c.shared_login_seen_at"),
    "lockout_until": _exactly_ago("c.lockout_until"),
    "limits": COLUMNS["limits"],
    "incident_id": COLUMNS["incident_id"],
    "recovery": COLUMNS["recovery"],
    "open_command": COLUMNS["open_command"],
}
"""Columns whose values are JSON already."""


def _column(name: str) -> str:
    """SQL: a column as a JSON array."""
    if name in _WORDS:
        return f"""coalesce('["' || string_agg({name}, '","') || '"]', '[]') AS {name}"""
    if name in _VALUES:
        return f"coalesce(CAST(json_agg({name}) AS text), '[]') AS {name}"
    return f"concat('[', string_agg({name}, ','), ']') AS {name}"


def _columns(which: str) -> str:
    """SQL: one row with the columns of the clients for which `which` holds, in the order of COLUMNS."""
    values = {"uuid": "c.uuid", **_WORDS, **_VALUES, **_WRITTEN}
    columns = ", ".join(_column(name) for name in COLUMNS if name != "uuid")
    return f"""
        SELECT {_UUIDS}, {columns}
        FROM (SELECT {", ".join(f"{value} AS {name}" for name, value in values.items())} {in_order(which)}) AS listed
    """


NO_CLIENTS: Final = {name: '""' if name == "uuid" else "[]" for name in COLUMNS}
"""What Postgres would write of no clients."""
WHOLE_FLEET = Query(_columns("true"), tuple)
SOME_CLIENTS = Query(_columns(NAMED), tuple)
HEARTBEATS = Query(
    f"""
    SELECT {_UUIDS}, {_column("last_heartbeat_at")} FROM (
        SELECT c.uuid, {_WRITTEN["last_heartbeat_at"]} AS last_heartbeat_at
        FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid WHERE c.deleted_at IS NULL) AS beats
    """,
    tuple,
)


def _named(columns: tuple[str, ...]) -> dict[str, str]:
    """Column name -> column."""
    return dict(zip(COLUMNS, columns, strict=True))


def whole_fleet(connection: Connection, second: int, recovery: Mapping[str, str]) -> dict[str, str]:
    """All clients, ordered by name and uuid: column name -> column as JSON. Times count back from `second`.

    `recovery`: uuid of an unwell client -> what recovery does about it, as JSON text.
    """
    return _named(WHOLE_FLEET.one(connection, second=second, recovery=json.dumps(recovery)))


def some_clients(
    connection: Connection, second: int, uuids: Sequence[str], recovery: Mapping[str, str]
) -> dict[str, str]:
    """The same for these clients, without deleted ones."""
    if not uuids:
        return NO_CLIENTS
    return _named(SOME_CLIENTS.one(connection, second=second, recovery=json.dumps(recovery), uuids=",".join(uuids)))


def heartbeats(connection: Connection, second: int) -> dict[str, str]:
    """The last heartbeats of all clients that were ever heard: the columns uuid and last_heartbeat_at."""
    uuids, last_heartbeats = HEARTBEATS.one(connection, second=second)
    return {"uuid": uuids, "last_heartbeat_at": last_heartbeats}
