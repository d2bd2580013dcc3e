"""SQL of maintenance windows: add, find and end them, and find the clients that they cover."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Connection

from shared.maintenance.rules import KeptWindow, PlannedWindow
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.fragments import END_OF_TIME, is_current, may_be_on
from shared.postgres.query import NO_ROW, Query


@dataclass(frozen=True)
class WindowFilter:
    """Which windows a list holds. Every field narrows it; None leaves it open."""

    current: bool | None = None  # True: on or still to come; False: over
    client_uuid: str | None = None  # windows that cover this client by its present site


class NamedClient(NamedTuple):
    """A client that a window of scope `clients` names."""

    window_id: int
    uuid: str


class CoveredClient(NamedTuple):
    """A client that a window covers."""

    uuid: str
    window_id: int


WINDOW: Final = ", ".join(f"w.{field.name}" for field in fields(KeptWindow))
PLANNED: Final = [field.name for field in fields(PlannedWindow)]
COVERS: Final = """(w.scope = 'fleet' OR w.scope = 'site' AND w.site = c.site
    OR w.scope = 'clients' AND EXISTS (
        SELECT FROM maintenance_window_clients AS n WHERE n.window_id = w.id AND n.client_uuid = c.uuid))"""
"""SQL: whether the window `w` covers the client `c`."""
INSERT = Query(
    f"""
    INSERT INTO maintenance_windows AS w ({", ".join(PLANNED)}) VALUES ({", ".join(f":{name}" for name in PLANNED)})
    RETURNING {WINDOW}
    """,  # noqa: S608 - made of constants
    KeptWindow,
)


def insert(connection: Connection, planned: PlannedWindow) -> KeptWindow:
    """Add a window. Returns its row with the new id."""
    return INSERT.one(connection, **vars(planned))


NAME_CLIENTS = Query(
    """
    INSERT INTO maintenance_window_clients (window_id, client_uuid)
    SELECT CAST(:window_id AS bigint), uuid FROM clients WHERE uuid = ANY(:uuids) AND deleted_at IS NULL
    RETURNING client_uuid
    """,
    str,
)


def name_clients(connection: Connection, window_id: int, uuids: Collection[str]) -> set[str]:
    """Add clients to a window of scope `clients`. Returns the uuids that exist."""
    return set(NAME_CLIENTS.all(connection, window_id=window_id, uuids=list(uuids)))


GET = Query(f"SELECT {WINDOW} FROM maintenance_windows AS w WHERE w.id = :id", KeptWindow)  # noqa: S608 - constants


def get(connection: Connection, window_id: int) -> KeptWindow | None:
    """One window, or None."""
    return GET.one_or_none(connection, id=window_id)


CLIENTS_OF = Query(
    """
    SELECT window_id, client_uuid FROM maintenance_window_clients
    WHERE window_id = ANY(:ids) ORDER BY window_id, client_uuid
    """,
    NamedClient,
)


def clients_of(connection: Connection, window_ids: Collection[int]) -> dict[int, list[str]]:
    """The uuids that windows of scope `clients` name, in order."""
    found: dict[int, list[str]] = {}
    for window_id, uuid in CLIENTS_OF.all(connection, ids=list(window_ids)):
        found.setdefault(window_id, []).append(uuid)
    return found


PAGE = Query(
    f"""
    SELECT {WINDOW} FROM maintenance_windows AS w
    WHERE (CAST(:current AS boolean) IS NULL OR ({is_current("w")}) = :current)
        AND (CAST(:client AS text) IS NULL
            OR EXISTS (SELECT FROM clients AS c WHERE c.uuid = :client AND {COVERS}))
        AND (w.created_at, w.id) < (:before, :before_id)
    ORDER BY w.created_at DESC, w.id DESC LIMIT :limit {FOR_ITS_VALUES}
    """,  # noqa: S608 - made of constants
    KeptWindow,
)


def page(
    connection: Connection, now: datetime, wanted: WindowFilter, limit: int, after: tuple[datetime, int] | None
) -> list[KeptWindow]:
    """Up to `limit` windows, the newest first, after the pair (created_at, id)."""
    before, before_id = after or (END_OF_TIME, 0)
    narrow = {"current": wanted.current, "client": wanted.client_uuid}
    return PAGE.all(connection, now=now, **narrow, before=before, before_id=before_id, limit=limit)


BEGUN = Query(
    f"SELECT {WINDOW} FROM maintenance_windows AS w WHERE {may_be_on('w')} ORDER BY w.id",  # noqa: S608 - constants
    KeptWindow,
)


def begun(connection: Connection, now: datetime) -> list[KeptWindow]:
    """Every window that may be on: its first occurrence has begun and its last one has not ended."""
    return BEGUN.all(connection, now=now)


COVERED = Query(
    f"""
    SELECT c.uuid, w.id FROM clients AS c JOIN maintenance_windows AS w ON {COVERS}
    WHERE c.uuid = ANY(:uuids) AND w.id = ANY(:ids) ORDER BY c.uuid, w.id
    """,  # noqa: S608 - made of constants
    CoveredClient,
)


def covered(connection: Connection, window_ids: Collection[int], uuids: Collection[str]) -> list[CoveredClient]:
    """The clients among these that these windows cover, with the windows' ids."""
    return COVERED.all(connection, ids=list(window_ids), uuids=list(uuids))


END = Query(
    f"""
    UPDATE maintenance_windows AS w SET ended_at = :now, ended_by = :by WHERE w.id = :id AND {is_current("w")}
    """,  # noqa: S608 - made of constants
    NO_ROW,
)


def end(connection: Connection, now: datetime, window_id: int, by: str) -> bool:
    """End a window for good. False when it is over, was ended, or does not exist."""
    return END.run(connection, now=now, id=window_id, by=by) == 1


DROP_HISTORY = Query("DELETE FROM maintenance_windows WHERE least(ended_at, last_ends_at) < :before", NO_ROW)


def drop_history(connection: Connection, before: datetime) -> int:
    """Delete windows that were over before `before`. Returns how many."""
    return DROP_HISTORY.run(connection, before=before)
