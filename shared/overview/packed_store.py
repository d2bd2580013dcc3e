"""SQL that writes the overview column by column: Postgres makes one text of each in one pass over the fleet."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection

from shared.overview.store import NAMED, TOLD, in_order
from shared.postgres.query import Query

_BYTES: Final = "decode(replace(string_agg(uuid, ''), '-', ''), 'hex')"
_UUIDS: Final = f"""concat('"', replace(encode({_BYTES}, 'base64'), chr(10), ''), '"') AS uuid"""
"""SQL: all uuids' bytes, in base64, as JSON; Postgres breaks its lines, which JSON does not take."""


def _whole(moment: str) -> str:
    """SQL: a time without what it has beyond its second. It reckons in numbers: `date_trunc` asks the calendar of the
    session's time zone, which takes five times as long.
    """
    return f"date_bin('1 second', {moment}, timestamptz '0001-01-01 00:00:00+00')"


def _ago(moment: str) -> str:
    """SQL: how many seconds before `second` (since 1970) the second of a time was, exactly for any time."""
    return f"CAST(:second AS bigint) - CAST(date_part('epoch', {_whole(moment)}) AS bigint)"


def _number(value: str) -> str:
    """SQL: a whole number as JSON, or null."""
    return f"coalesce(CAST({value} AS text), 'null')"


def _exactly_ago(moment: str) -> str:
    """SQL: the same as JSON, with the digits of the fraction, then as a text, where there is one."""
    ago = f"CAST({_ago(moment)} AS text)"
    return f"""coalesce(CASE WHEN {_whole(moment)} <> {moment}
        THEN concat('"', {ago}, to_char({moment}, '.US'), '"') ELSE {ago} END, 'null')"""


_WORDS: Final[Mapping[str, str]] = {
    **{name: f"CAST(c.{name} AS text)" for name in ("process_status", "screen_health")},
    **{name: f"c.{name}" for name in ("status", "presence")},
}
"""Words of our own: never null, and nothing in them to escape. They only have to be put side by side."""
_VALUES: Final[Mapping[str, str]] = {
    name: f"c.{name}" for name in ("name", "site", "app_version", "ip", "hostname", "service_failed_unit")
}
"""Which Postgres writes as JSON itself, all values of a column as one, with a blank after each comma: among words that
packs to nothing, among numbers that nobody can guess to some bits for each.
"""
_WRITTEN: Final[Mapping[str, str]] = {
    "status_since": _number(_ago("c.status_since")),
    "last_heartbeat_at": _number(_ago("h.last_heartbeat_at")),
    "mqtt_reconnect_count": _number("c.mqtt_reconnect_count"),
    "tags": f"CASE WHEN c.tags = '{{}}' THEN '[]' ELSE {TOLD['tags']} END",  # most have none
    "service_failed_at": _exactly_ago("c.service_failed_at"),
    "mqtt_last_disconnect_at": _exactly_ago("c.mqtt_last_disconnect_at"),
    "shared_login_seen_at": _exactly_ago("c.shared_login_seen_at"),
    "lockout_until": _exactly_ago("c.lockout_until"),
    "recovery": TOLD["recovery"],
    "open_command": TOLD["open_command"],
}
"""As JSON already."""


def _column(name: str) -> str:
    """SQL: a column as a JSON array."""
    if name in _WORDS:
        return f"""coalesce('["' || string_agg({name}, '","') || '"]', '[]') AS {name}"""
    if name in _VALUES:
        return f"coalesce(CAST(json_agg({name}) AS text), '[]') AS {name}"
    return f"concat('[', string_agg({name}, ','), ']') AS {name}"


def _columns(which: str) -> str:
    """SQL: one row: the columns of the clients for which `which` holds, in the order of TOLD."""
    values = {"uuid": "c.uuid", **_WORDS, **_VALUES, **_WRITTEN}
    columns = ", ".join(_column(name) for name in TOLD if name != "uuid")
    return f"""
        SELECT {_UUIDS}, {columns}
        FROM (SELECT {", ".join(f"{value} AS {name}" for name, value in values.items())} {in_order(which)}) AS told
    """  # noqa: S608 - made of constants


WHOLE_FLEET = Query(_columns("true"), tuple)
SOME_CLIENTS = Query(_columns(NAMED), tuple)
HEARTBEATS = Query(
    f"""
    SELECT {_UUIDS}, {_column("last_heartbeat_at")} FROM (
        SELECT c.uuid, {_WRITTEN["last_heartbeat_at"]} AS last_heartbeat_at
        FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid WHERE c.deleted_at IS NULL) AS told
    """,  # noqa: S608 - made of constants
    tuple,
)


def _named(columns: tuple[str, ...]) -> dict[str, str]:
    """The columns of TOLD, each by its name."""
    return dict(zip(TOLD, columns, strict=True))


def whole_fleet(connection: Connection, second: int, recovery: Mapping[str, str]) -> dict[str, str]:
    """Every client, by name and uuid: each column as JSON, by its name; times from `second` (since 1970).

    `recovery` is what recovery does about the unwell ones, by uuid, already as JSON text.
    """
    return _named(WHOLE_FLEET.one(connection, second=second, recovery=json.dumps(recovery)))


def some_clients(connection: Connection, second: int, uuids: Sequence[str]) -> dict[str, str]:
    """As `whole_fleet`, without what recovery does: those of these clients that are not deleted."""
    return _named(SOME_CLIENTS.one(connection, second=second, recovery="{}", uuids=",".join(uuids)))


def heartbeats(connection: Connection, second: int) -> dict[str, str]:
    """The last heartbeat of every client that was ever heard: the columns uuid and last_heartbeat_at."""
    uuids, last_heartbeats = HEARTBEATS.one(connection, second=second)
    return {"uuid": uuids, "last_heartbeat_at": last_heartbeats}
