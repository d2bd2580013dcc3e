"""SQL of unwell clients: one statement reads what a list shows and what recovery decides by."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Connection

from shared import typed
from shared.clients.signs_store import SILENT
from shared.clients.store import SHOWN, ShownClient
from shared.postgres.query import Query
from shared.recovery.evidence.rules import RecoveryFacts
from shared.recovery.evidence.store import SurroundedClients, Surroundings, facts_in, facts_of, with_surroundings

After = tuple[datetime | None, str]
"""Where the previous page ended."""


class UnwellClients(Struct, frozen=True):
    """Some clients as lists show them and as recovery reads them, and the surroundings."""

    clients: Sequence[ShownClient]
    judged: Sequence[RecoveryFacts]
    around: Surroundings


def _first(of: str, order: str) -> str:
    """SQL: whether a client is on the page; all other columns are read only for the clients of the page.

    The page is an array, because the generic plan expects a third of the fleet to be silent, and would join all of it.
    """
    return f"c.uuid = ANY(ARRAY(SELECT c.uuid {of} ORDER BY {order} LIMIT CAST(:limit AS int)))"


_SAYS_SO: Final = "SELECT uuid FROM clients WHERE process_status = 'crashed'"
_SILENT: Final = f"SELECT h.client_uuid FROM client_heartbeats AS h WHERE {SILENT}"
_EITHER: Final = f"""
    FROM clients AS c LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    WHERE c.deleted_at IS NULL AND c.uuid = ANY(ARRAY({_SAYS_SO} UNION {_SILENT}))"""
_SINCE: Final = "coalesce(h.last_heartbeat_at, 'infinity')"
_LONGEST_SILENT: Final = f"{_SINCE}, c.uuid"
_AFTER: Final = f"""
    (CAST(:after_uuid AS text) IS NULL
        OR ({_LONGEST_SILENT}) > (coalesce(CAST(:after_at AS timestamptz), 'infinity'), CAST(:after_uuid AS text)))"""
CRASHED = with_surroundings(facts_of(_first(f"{_EITHER} AND {_AFTER}", _LONGEST_SILENT), _LONGEST_SILENT, SHOWN))
"""An index finds the clients that report a crash, one scan of the narrow table of heartbeats the silent ones."""
_NEWEST: Final = "c.service_failed_at DESC, c.uuid"
_FAILED: Final = """
    FROM clients AS c WHERE c.deleted_at IS NULL AND c.service_failed_at IS NOT NULL
        AND (CAST(:after_uuid AS text) IS NULL OR c.service_failed_at < CAST(:after_at AS timestamptz)
            OR c.service_failed_at = CAST(:after_at AS timestamptz) AND c.uuid > CAST(:after_uuid AS text))"""
FAILED = with_surroundings(facts_of(_first(_FAILED, _NEWEST), _NEWEST, SHOWN))


def crashed(
    connection: Connection, now: datetime, stale_after: timedelta, limit: int, after: After | None = None
) -> UnwellClients:
    """Clients that report a crash or gave no sign of life for too long, the longest silent first.

    They are listed whether the bridge listens or not. `stale_after` is the threshold; a client with a long interval
    gets three intervals. A client that was never heard is not listed. `after`: last_heartbeat_at and uuid of the last
    client of the previous page.
    """
    return _found(connection, now, CRASHED, after, stale=int(stale_after.total_seconds()), limit=limit)


def failed(connection: Connection, now: datetime, limit: int, after: After | None = None) -> UnwellClients:
    """Clients with a recorded service failure, the newest failure first.

    `after`: service_failed_at and uuid of the last client of the previous page.
    """
    return _found(connection, now, FAILED, after, limit=limit)


def _found(
    connection: Connection, now: datetime, query: Query[SurroundedClients], after: After | None, **values: Any
) -> UnwellClients:
    after_at, after_uuid = after or (None, None)
    found = query.one(connection, now=now, after_at=after_at, after_uuid=after_uuid, **values)
    shown = typed.decode(found.facts, list[ShownClient])
    return UnwellClients(shown, facts_in(found.facts), found.around)
