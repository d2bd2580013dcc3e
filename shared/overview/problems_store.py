"""SQL of the unwell: what a list shows of them and what recovery judges them by, in one statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection

from shared.clients.signs_store import SILENT
from shared.clients.store import SHOWN, ShownClient
from shared.postgres.statements import Constant
from shared.recovery.evidence.rules import KnownRow
from shared.recovery.evidence.store import Surroundings, known_of, read_with_surroundings, reader, with_surroundings

After = tuple[datetime | None, str]
"""Where the page before ended."""


@dataclass(frozen=True, slots=True)
class JudgedRow(KnownRow):
    """What `recovery` judges a client by."""

    status: str


@dataclass(frozen=True, slots=True)
class UnwellClients:
    """Some clients, as every list shows them and as `recovery` judges them, and what is the same for all of them."""

    clients: Sequence[ShownClient]
    judged: Sequence[JudgedRow]
    around: Surroundings


def _first(of: str, order: str) -> str:
    """SQL: being one of the first so many of these after the page before; only of those the rest is looked up.

    They go into an array: one plan for all values expects a third of the fleet to be silent and would join all of it.
    """
    return f"c.uuid = ANY(ARRAY(SELECT c.uuid {of} ORDER BY {order} LIMIT CAST(:limit AS int)))"


_SAYS_SO: Final = "SELECT uuid FROM clients WHERE process_status = 'crashed'"
_SILENT: Final = f"SELECT h.client_uuid FROM client_heartbeats AS h WHERE {SILENT}"  # noqa: S608 - made of constants
_EITHER: Final = f"""
    FROM clients AS c LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    WHERE c.deleted_at IS NULL AND c.uuid = ANY(ARRAY({_SAYS_SO} UNION {_SILENT}))"""
_SINCE: Final = "coalesce(h.last_heartbeat_at, 'infinity')"
_LONGEST_SILENT: Final = f"{_SINCE}, c.uuid"
_AFTER: Final = f"""
    (CAST(:after_uuid AS text) IS NULL
        OR ({_LONGEST_SILENT}) > (coalesce(CAST(:after_at AS timestamptz), 'infinity'), CAST(:after_uuid AS text)))"""
CRASHED: Final = with_surroundings(known_of(_first(f"{_EITHER} AND {_AFTER}", _LONGEST_SILENT), _LONGEST_SILENT, SHOWN))
"""Who says so is found by an index, who is silent by one look through the narrow table of heartbeats."""
_NEWEST: Final = "c.service_failed_at DESC, c.uuid"
_FAILED: Final = """
    FROM clients AS c WHERE c.deleted_at IS NULL AND c.service_failed_at IS NOT NULL
        AND (CAST(:after_uuid AS text) IS NULL OR c.service_failed_at < CAST(:after_at AS timestamptz)
            OR c.service_failed_at = CAST(:after_at AS timestamptz) AND c.uuid > CAST(:after_uuid AS text))"""
FAILED: Final = with_surroundings(known_of(_first(_FAILED, _NEWEST), _NEWEST, SHOWN))


def crashed(
    connection: Connection, now: datetime, stale_after: timedelta, limit: int, after: After | None = None
) -> UnwellClients:
    """Clients whose process says crashed or that gave no sign for too long, whatever the bridge does, oldest first.

    `stale_after` is the threshold; a client with a long interval of its own gets three of them. One never
    heard of is not among them. `after`: last_heartbeat_at and uuid of the last one of the page before.
    """
    return _found(connection, now, CRASHED, after, stale=int(stale_after.total_seconds()), limit=limit)


def failed(connection: Connection, now: datetime, limit: int, after: After | None = None) -> UnwellClients:
    """Clients with a recorded service failure, the newest failure first.

    `after`: service_failed_at and uuid of the last one of the page before.
    """
    return _found(connection, now, FAILED, after, limit=limit)


def _found(
    connection: Connection, now: datetime, statement: Constant, after: After | None, **values: Any
) -> UnwellClients:
    after_at, after_uuid = after or (None, None)
    page = {"after_at": after_at, "after_uuid": after_uuid}
    known, around = read_with_surroundings(connection, statement, {"now": now, **page, **values})
    return UnwellClients(reader(ShownClient).decode(known), reader(JudgedRow).decode(known), around)
