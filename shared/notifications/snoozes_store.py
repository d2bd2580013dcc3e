"""SQL of snoozes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping

from shared.tables import clients
from shared.tables import notification_snoozes as snoozes
from shared.vocabulary import SnoozeScope

s = snoozes.c
SHOWN = (*s, clients.c.name.label("client_name"))


def _on(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(s.ended_at.is_(None), s.until > now)


def insert(connection: Connection, values: Mapping[str, Any]) -> int:
    """A new snooze; its id."""
    return int(connection.execute(sa.insert(snoozes).values(**values).returning(s.id)).scalar_one())


def get(connection: Connection, snooze_id: int) -> RowMapping | None:
    """One snooze, with the name of its client, or None."""
    query = sa.select(*SHOWN).select_from(snoozes.outerjoin(clients)).where(s.id == snooze_id)
    return connection.execute(query).mappings().one_or_none()


@dataclass(frozen=True)
class SnoozeFilter:
    """Which snoozes a list holds. Every field narrows it; None leaves it open."""

    current: bool | None = None  # on, or else over or ended
    client_uuid: str | None = None  # those that cover this client: its own, its site's and the fleet's


def page(
    connection: Connection, now: datetime, wanted: SnoozeFilter, limit: int, after: tuple[datetime, int] | None
) -> Sequence[RowMapping]:
    """Up to `limit` snoozes, the newest first, after (created_at, id)."""
    query = sa.select(*SHOWN).select_from(snoozes.outerjoin(clients))
    if wanted.current is not None:
        query = query.where(_on(now) if wanted.current else sa.not_(_on(now)))
    if wanted.client_uuid is not None:
        here = sa.select(clients.c.site).where(clients.c.uuid == wanted.client_uuid).scalar_subquery()
        of_fleet = s.scope == SnoozeScope.FLEET.value
        query = query.where(sa.or_(of_fleet, s.client_uuid == wanted.client_uuid, s.site == here))
    if after is not None:
        query = query.where(sa.tuple_(s.created_at, s.id) < sa.tuple_(sa.literal(after[0]), sa.literal(after[1])))
    return connection.execute(query.order_by(s.created_at.desc(), s.id.desc()).limit(limit)).mappings().all()


def on(connection: Connection, now: datetime) -> Sequence[RowMapping]:
    """Every snooze that is on: scope, site and client."""
    query = sa.select(s.scope, s.site, s.client_uuid).where(_on(now))
    return connection.execute(query).mappings().all()


def end(connection: Connection, now: datetime, snooze_id: int, by: str) -> bool:
    """End a snooze; False when it has ended, by a person or by itself, or is none."""
    statement = sa.update(snoozes).where(s.id == snooze_id, _on(now)).values(ended_at=now, ended_by=by)
    return connection.execute(statement).rowcount == 1


def drop_history(connection: Connection, before: datetime) -> int:
    """Forget snoozes that were over before then; how many."""
    return connection.execute(sa.delete(snoozes).where(s.until < before)).rowcount
