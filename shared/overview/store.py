"""SQL that reads across nouns for the overview, and the scheduler's own record.

Postgres writes the rows of the fleet as JSON text: of ten thousand clients, taking each value over into
Python and out again costs ten times what Postgres needs for the whole (measured: 500 ms and 45).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from shared.clients.signs_store import MAY_BE_MUTE
from shared.clients.store import ClientState
from shared.leadership.store import LIFE
from shared.overview.rules import OverviewCursor
from shared.postgres.fragments import is_open, is_unwell
from shared.postgres.query import NO_ROW, Query


def _quoted(text: str) -> str:
    """SQL: a word that needs no escaping as JSON, or null."""
    return f"coalesce('\"' || {text} || '\"', 'null')"


def _escaped(value: str) -> str:
    """SQL: any value as JSON, or null."""
    return f"coalesce(to_json({value})::text, 'null')"


def _second(moment: str) -> str:
    """SQL: a time as JSON, cut to its second: what tells an age needs no more, and it packs three times better."""
    return f"""coalesce(left(to_json({moment} AT TIME ZONE 'UTC')::text, 20) || 'Z"', 'null')"""


def _exact(moment: str) -> str:
    """SQL: a time as JSON, in the form that every other answer gives it."""
    fraction = f"""CASE WHEN date_trunc('second', {moment}) = {moment} THEN '"Z"' ELSE '.US"Z"' END"""
    return _quoted(f"""to_char({moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS' || {fraction})""")


_OPEN_COMMAND: Final = f"""
    CASE WHEN k.id IS NULL THEN 'null' ELSE concat('{{"id":"', k.id, '","action":"', k.action, '","state":"', k.state,
        '","source":"', k.source, '","created_at":', {_exact("k.created_at")},
        ',"expires_at":', {_exact("k.expires_at")}, '}}') END"""
TOLD: Final[Mapping[str, str]] = {
    "uuid": _quoted("c.uuid"),
    "name": _escaped("c.name"),
    "site": _escaped("c.site"),
    "tags": _escaped("c.tags"),
    "process_status": _quoted("c.process_status"),
    "status": _quoted("c.status"),
    "status_since": _second("c.status_since"),
    "last_heartbeat_at": _second("h.last_heartbeat_at"),
    "screen_health": _quoted("c.screen_health"),
    "service_failed_at": _exact("c.service_failed_at"),
    "service_failed_unit": _escaped("c.service_failed_unit"),
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
}
"""What the overview tells of each client, in this order: the field and the SQL that writes it as JSON."""


def in_order(which: str) -> str:
    """SQL: from where TOLD is read: the clients for which `which` holds, by name and uuid."""
    return f"""
        FROM clients AS c
        LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
        LEFT JOIN client_commands AS k ON k.client_uuid = c.uuid AND {is_open("k")}
        WHERE c.deleted_at IS NULL AND {which}
        ORDER BY c.name COLLATE "C", c.uuid
    """


def _rows(which: str) -> str:
    """SQL: the clients for which `which` holds as the inside of a JSON array of rows."""
    return f"""
        SELECT coalesce(string_agg(row, ','), '') FROM (
            SELECT '[' || concat_ws(',', {", ".join(TOLD.values())}) || ']' AS row {in_order(which)}) AS told
    """  # noqa: S608 - made of constants


_SINCE: Final = "changed_xid >= CAST(CAST(:since AS text) AS xid8)"
NAMED: Final = "c.uuid = ANY(string_to_array(CAST(:uuids AS text), ','))"
"""SQL: whether it is one of these clients; pg8000 takes long to write a list of them out."""


@dataclass(frozen=True)
class LastTick:
    """What the last tick did; `last_tick_at` is None before the first."""

    last_tick_at: datetime | None
    duration_ms: int | None
    did: dict[str, Any]


@dataclass(frozen=True)
class Standpoint(LastTick):
    """Where a reader stands (see OverviewCursor), and what the scheduler last said there."""

    xid: int
    epoch: str
    circumstances: str

    @property
    def cursor(self) -> OverviewCursor:
        """Where it stands."""
        return OverviewCursor(self.epoch, self.xid, self.circumstances)


STANDPOINT = Query(  # pg_snapshot_xmin and xid8 are not known to Core
    f"""
    SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS xid, {LIFE} AS epoch,
        left(md5(concat(
            (SELECT string_agg(concat_ws(' ', open_since, site), ',' ORDER BY site) FROM recovery_breakers
                WHERE open_since IS NOT NULL),
            (SELECT concat('; ', count(*), ' ', max(id)) FROM recovery_exclusions))), 12) AS circumstances,
        s.last_tick_at, s.duration_ms, s.did
    FROM pg_database AS d CROSS JOIN scheduler_status AS s WHERE d.datname = current_database()
    """,  # noqa: S608 - made of constants
    Standpoint,
)


def standpoint(connection: Connection) -> Standpoint:
    """Where a reader that reads after this statement stands.

    The oldest transaction still open, not the newest seen: a change that commits late is told again
    rather than lost. The epoch is new with each start of Postgres and each restored database, where
    transaction ids may run back. The circumstances are which breakers are open and who is excluded.
    """
    return STANDPOINT.one(connection)


WHOLE_FLEET = Query(_rows("true"), str)
SOME_CLIENTS = Query(_rows(NAMED), str)


def whole_fleet(connection: Connection, recovery: Mapping[str, str]) -> str:
    """Every client, by name and uuid, as the inside of a JSON array of rows in the order of TOLD.

    `recovery` is what recovery does about the unwell ones, by uuid, already as JSON text.
    """
    return WHOLE_FLEET.one(connection, recovery=json.dumps(recovery))


class ChangedClients(NamedTuple):
    """The uuids of the clients of which something changed, and of those that were deleted, with a comma between."""

    all: str | None
    gone: str | None


CHANGED = Query(  # planned for its number: few or all may have changed since
    f"""
    SELECT string_agg(uuid, ','), string_agg(uuid, ',' ORDER BY uuid) FILTER (WHERE gone) FROM (
        SELECT uuid, deleted_at IS NOT NULL AS gone FROM clients WHERE {_SINCE}
        UNION SELECT client_uuid, false FROM client_commands WHERE {_SINCE}
        UNION SELECT client_uuid, false FROM client_recovery WHERE {_SINCE}
        UNION SELECT client_uuid, false FROM incident_members WHERE {_SINCE}) AS changed
    """,  # noqa: S608 - made of constants
    ChangedClients,
)


def changed(connection: Connection, since: int) -> tuple[list[str], list[str]]:
    """The clients of which something changed in transaction `since` or later: they themselves, their command, how
    far recovery is with them, their incident. Then those that were deleted since then; they are among the first, too.
    """
    both = CHANGED.one(connection, since=str(since))  # texts: a uuid alone takes as long as all in one
    all_changed, gone = (uuids.split(",") if uuids else [] for uuids in both)
    return all_changed, gone


def some_clients(connection: Connection, uuids: Sequence[str]) -> str:
    """As `whole_fleet`, without what recovery does: those of these clients that are not deleted."""
    return SOME_CLIENTS.one(connection, recovery="{}", uuids=",".join(uuids))


UNWELL = Query(
    f"""
    SELECT c.uuid, c.status, c.process_status, c.service_failed_at FROM clients AS c
    WHERE {is_unwell("c")} AND c.deleted_at IS NULL
    UNION SELECT c.uuid, c.status, c.process_status, c.service_failed_at
    FROM clients AS c JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    WHERE {MAY_BE_MUTE} AND c.deleted_at IS NULL
    """,  # noqa: S608 - made of constants
    ClientState,
)


def unwell(connection: Connection) -> list[ClientState]:
    """The clients that recovery may have something to say about."""
    return UNWELL.all(connection)


HEARTBEATS = Query(
    f"""
    SELECT coalesce(string_agg(concat('["', c.uuid, '",', {_second("h.last_heartbeat_at")}, ']'), ','), '')
    FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid WHERE c.deleted_at IS NULL
    """,  # noqa: S608 - made of constants
    str,
)


def heartbeats(connection: Connection) -> str:
    """The last heartbeat of every client that was ever heard, as the inside of a JSON array of [uuid, time]."""
    return HEARTBEATS.one(connection)


class StatusCount(NamedTuple):
    """How many clients stand in a shown state, and how many of them have a failed service."""

    status: str
    number: int
    service_failed: int


COUNTS = Query(
    "SELECT status, count(*), count(service_failed_at) FROM clients WHERE deleted_at IS NULL GROUP BY status",
    StatusCount,
)


def count_by_status(connection: Connection) -> list[StatusCount]:
    """The counts of every shown state that there is."""
    return COUNTS.all(connection)


@dataclass(frozen=True)
class ListedFailure:
    """A client with a failed service."""

    uuid: str
    name: str
    site: str | None
    service_failed_at: datetime
    service_failed_unit: str | None


FAILED = Query(
    """
    SELECT uuid, name, site, service_failed_at, service_failed_unit FROM clients
    WHERE service_failed_at IS NOT NULL AND deleted_at IS NULL ORDER BY service_failed_at DESC, uuid LIMIT :limit
    """,
    ListedFailure,
)


def failed_services(connection: Connection, limit: int) -> list[ListedFailure]:
    """Up to `limit` clients with a failed service, the newest failure first."""
    return FAILED.all(connection, limit=limit)


SCHEDULER = Query("SELECT last_tick_at, duration_ms, did FROM scheduler_status", LastTick)


def scheduler(connection: Connection) -> LastTick:
    """What the last tick did."""
    return SCHEDULER.one(connection)


RECORD_TICK = Query(
    """
    UPDATE scheduler_status SET last_tick_at = :now, duration_ms = :duration_ms, did = :did
    WHERE last_tick_at IS NULL OR last_tick_at <= :now
    """,
    NO_ROW,
)


def record_tick(connection: Connection, now: datetime, duration_ms: int, did: Mapping[str, Any]) -> None:
    """Write down what a tick did; an older tick that ends late never overwrites a newer one."""
    RECORD_TICK.run(connection, now=now, duration_ms=duration_ms, did=json.dumps(did))


FORGET_FUTURE_TICK = Query("UPDATE scheduler_status SET last_tick_at = :now WHERE last_tick_at > :now", NO_ROW)


def forget_future_tick(connection: Connection, now: datetime) -> None:
    """Let a last tick of a time that has not come yet count as now, so that this one can be written down."""
    FORGET_FUTURE_TICK.run(connection, now=now)
