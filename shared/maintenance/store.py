"""SQL of maintenance windows: kept, found, ended, and whom the ones that are on keep quiet."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping

from shared.postgres.statements import constant, mappings
from shared.tables import clients
from shared.tables import maintenance_window_clients as named
from shared.tables import maintenance_windows as windows
from shared.vocabulary import MaintenanceScope


@dataclass(frozen=True)
class WindowFilter:
    """Which windows a list holds. Every field narrows it; None leaves it open."""

    current: bool | None = None  # still to come or on, however often; or else not any more
    client_uuid: str | None = None  # those that cover this client, as it stands now


def insert(connection: Connection, values: Mapping[str, Any]) -> RowMapping:
    """A new window; the row as it is kept."""
    return connection.execute(sa.insert(windows).values(**values).returning(*windows.c)).mappings().one()


def name_clients(connection: Connection, window_id: int, uuids: Collection[str]) -> set[str]:
    """Put clients into a window of scope `clients`; those of `uuids` that are clients, and so were put in."""
    live = sa.select(sa.literal(window_id), clients.c.uuid).where(
        clients.c.uuid == sa.any_(_texts(uuids)), clients.c.deleted_at.is_(None)
    )
    statement = sa.insert(named).from_select(["window_id", "client_uuid"], live)
    return set(connection.execute(statement.returning(named.c.client_uuid)).scalars())


def get(connection: Connection, window_id: int) -> RowMapping | None:
    """One window, or None."""
    return connection.execute(sa.select(*windows.c).where(windows.c.id == window_id)).mappings().one_or_none()


def clients_of(connection: Connection, window_ids: Collection[int]) -> dict[int, list[str]]:
    """The uuids that windows of scope `clients` name, in order."""
    query = sa.select(named.c.window_id, named.c.client_uuid).where(named.c.window_id == sa.any_(_ids(window_ids)))
    found: dict[int, list[str]] = {}
    for window_id, uuid in connection.execute(query.order_by(named.c.window_id, named.c.client_uuid)):
        found.setdefault(window_id, []).append(uuid)
    return found


def page(
    connection: Connection, now: datetime, wanted: WindowFilter, limit: int, after: tuple[datetime, int] | None
) -> Sequence[RowMapping]:
    """Up to `limit` windows, the newest first, that come after the pair (created_at, id)."""
    query = sa.select(*windows.c).order_by(windows.c.created_at.desc(), windows.c.id.desc()).limit(limit)
    if wanted.current is not None:
        query = query.where(_is_current(now) if wanted.current else sa.not_(_is_current(now)))
    if wanted.client_uuid is not None:
        client = sa.select(clients.c.uuid).where(clients.c.uuid == wanted.client_uuid, _covers())
        query = query.where(client.exists())
    if after is not None:
        key = sa.tuple_(windows.c.created_at, windows.c.id)
        query = query.where(key < sa.tuple_(sa.literal(after[0]), sa.literal(after[1])))
    return connection.execute(query).mappings().all()


def _is_current(now: datetime | sa.BindParameter[Any]) -> sa.ColumnElement[bool]:
    """Neither ended by a person nor over; a repeated one counts between its times too."""
    still_to_end = sa.or_(windows.c.last_ends_at.is_(None), windows.c.last_ends_at > now)
    return sa.and_(windows.c.ended_at.is_(None), still_to_end)


_NOW: Final = sa.bindparam("now", type_=windows.c.starts_at.type)
_BEGUN: Final = constant(
    sa.select(*windows.c).where(windows.c.starts_at <= _NOW, _is_current(_NOW)).order_by(windows.c.id)
)


def begun(connection: Connection, now: datetime) -> Sequence[RowMapping]:
    """Every window that may be on: its first occurrence has begun and its last one has not ended."""
    return mappings(connection, _BEGUN, {"now": now})


def covered(connection: Connection, window_ids: Collection[int], uuids: Collection[str]) -> list[tuple[str, int]]:
    """(uuid, window id) of those of these clients that these windows cover, a client's windows by id."""
    query = (
        sa.select(clients.c.uuid, windows.c.id)
        .join_from(clients, windows, _covers())
        .where(clients.c.uuid == sa.any_(_texts(uuids)), windows.c.id == sa.any_(_ids(window_ids)))
    )
    return [(uuid, number) for uuid, number in connection.execute(query.order_by(clients.c.uuid, windows.c.id))]


def _covers() -> sa.ColumnElement[bool]:
    """Whether the window covers the client."""
    is_named = sa.exists().where(named.c.window_id == windows.c.id, named.c.client_uuid == clients.c.uuid)
    return sa.or_(
        windows.c.scope == MaintenanceScope.FLEET.value,
        sa.and_(windows.c.scope == MaintenanceScope.SITE.value, windows.c.site == clients.c.site),
        sa.and_(windows.c.scope == MaintenanceScope.CLIENTS.value, is_named),
    )


def end(connection: Connection, now: datetime, window_id: int, by: str) -> bool:
    """End a window for good; False when it has ended, by a person or by itself, or is none."""
    mine = (windows.c.id == window_id, _is_current(now))
    return connection.execute(sa.update(windows).where(*mine).values(ended_at=now, ended_by=by)).rowcount == 1


def drop_history(connection: Connection, before: datetime) -> int:
    """Forget windows that were over before then; how many."""
    over = sa.func.least(windows.c.ended_at, windows.c.last_ends_at)
    return connection.execute(sa.delete(windows).where(over < before)).rowcount


def _texts(values: Collection[str]) -> sa.BindParameter[Any]:
    return sa.literal(list(values), sa.ARRAY(sa.Text))


def _ids(values: Collection[int]) -> sa.BindParameter[Any]:
    return sa.literal(list(values), sa.ARRAY(sa.BigInteger))
