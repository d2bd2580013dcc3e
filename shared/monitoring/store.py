"""SQL that reads across nouns for the overview, and the scheduler's own record."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import JSONB

from shared.clients import store as clients_store
from shared.monitoring.rules import Cursor
from shared.tables import Xid8, client_commands, client_heartbeats, clients, scheduler_status

STALE_INTERVALS = 3  # never stale before three of the display's own intervals have passed


def cursor(connection: Connection) -> Cursor:
    """Where a reader that reads after this statement stands.

    The oldest transaction still open, not the newest seen: a change that commits late is told again
    rather than lost. The epoch is new with each start of Postgres and each restored database, where
    transaction ids may run back.
    """
    row = connection.execute(
        sa.text(  # pg_snapshot_xmin and xid8 are not known to Core
            "SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xid,"
            " left(md5(pg_postmaster_start_time()::text || d.oid::text), 12) AS epoch"
            " FROM pg_database AS d WHERE d.datname = current_database()"
        )
    ).one()
    return Cursor(row.epoch, int(row.xid))


def whole_fleet(connection: Connection) -> Sequence[RowMapping]:
    """Every client, by uuid."""
    return connection.execute(clients_store.shown().order_by(clients.c.uuid)).mappings().all()


def changed_clients(connection: Connection, since: int) -> Sequence[RowMapping]:
    """Clients that changed, or whose command did, in transaction `since` or later, by uuid."""
    mark = _xid(since)
    by_command = sa.select(client_commands.c.client_uuid).where(client_commands.c.changed_xid >= mark)
    changed = sa.or_(clients.c.changed_xid >= mark, clients.c.uuid.in_(by_command))
    return connection.execute(clients_store.shown().where(changed).order_by(clients.c.uuid)).mappings().all()


def gone_clients(connection: Connection, since: int) -> Sequence[str]:
    """Uuids of clients deleted in transaction `since` or later."""
    query = sa.select(clients.c.uuid).where(clients.c.deleted_at.is_not(None), clients.c.changed_xid >= _xid(since))
    return connection.execute(query.order_by(clients.c.uuid)).scalars().all()


def heartbeats(connection: Connection) -> Sequence[tuple[str, datetime]]:
    """The last heartbeat of every client that was ever heard, by uuid."""
    query = (
        sa.select(client_heartbeats.c.client_uuid, client_heartbeats.c.last_heartbeat_at)
        .join(clients, clients.c.uuid == client_heartbeats.c.client_uuid)
        .where(clients.c.deleted_at.is_(None))
        .order_by(client_heartbeats.c.client_uuid)
    )
    return [(row.client_uuid, row.last_heartbeat_at) for row in connection.execute(query)]


def statuses(connection: Connection) -> Sequence[tuple[str, bool]]:
    """Shown state and whether a service failed, of every client."""
    query = sa.select(clients.c.status, clients.c.service_failed_at.is_not(None).label("failed"))
    return [(row.status, row.failed) for row in connection.execute(query.where(clients.c.deleted_at.is_(None)))]


def crashed(connection: Connection, now: datetime, stale_after: timedelta, limit: int) -> Sequence[RowMapping]:
    """Clients whose process says crashed or whose heartbeat is too old, whatever the bridge does, oldest first.

    `stale_after` is the threshold; a client with a long interval of its own gets three of them. One never
    heard of is not among them.
    """
    threshold = sa.func.greatest(stale_after, client_heartbeats.c.interval_seconds * timedelta(seconds=STALE_INTERVALS))
    too_old = sa.literal(now) - client_heartbeats.c.last_heartbeat_at > threshold
    unwell = sa.or_(clients.c.process_status == "crashed", too_old)
    query = clients_store.shown().where(unwell).order_by(client_heartbeats.c.last_heartbeat_at, clients.c.uuid)
    return connection.execute(query.limit(limit)).mappings().all()


def scheduler(connection: Connection) -> RowMapping:
    """What the last tick did: last_tick_at (None before the first), duration_ms, did."""
    columns = (scheduler_status.c.last_tick_at, scheduler_status.c.duration_ms, scheduler_status.c.did)
    return connection.execute(sa.select(*columns)).mappings().one()


def record_tick(connection: Connection, now: datetime, duration_ms: int, did: Mapping[str, Any]) -> None:
    """Write down what a tick did; an older tick that ends late never overwrites a newer one."""
    newer = sa.or_(scheduler_status.c.last_tick_at.is_(None), scheduler_status.c.last_tick_at <= now)
    connection.execute(
        sa.update(scheduler_status)
        .where(newer)
        .values(last_tick_at=now, duration_ms=duration_ms, did=sa.cast(sa.literal(dict(did), JSONB), JSONB))
    )


def _xid(number: int) -> sa.ColumnElement[Any]:
    return sa.cast(sa.literal(str(number), sa.Text), Xid8())
