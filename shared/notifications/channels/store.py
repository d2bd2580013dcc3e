"""SQL of channels. What they keep secret is in no error: neither among quoted parameters nor in Postgres' details."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.exc import DBAPIError

from shared.postgres.door import constraint_name, is_away, sqlstate
from shared.tables import notification_channels as channels

c = channels.c
NAMES_LOCK: Final = 7_305_008  # advisory lock of the transaction that names a channel
SECRETS: Final = frozenset({"url", "signing_secret"})


class ChannelNotKept(Exception):
    """Postgres refused a channel that our own rules let through; the message says by which constraint."""


class Hidden(str):
    """A text whose representation is not the text: what a failed statement prints of its parameters is that."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'…'"


@contextmanager
def _quoting_nothing() -> Iterator[None]:
    """Let a refusal of Postgres through without its words: they may quote the whole row."""
    try:
        yield
    except DBAPIError as error:
        if is_away(error):
            raise
        raise ChannelNotKept(f"SQLSTATE {sqlstate(error)}, constraint {constraint_name(error)}") from None


def _bound(values: Mapping[str, Any]) -> dict[str, Any]:
    return {n: Hidden(v) if n in SECRETS and v is not None else v for n, v in values.items()}


def insert(connection: Connection, values: Mapping[str, Any]) -> RowMapping:
    """A new channel; the row. Its name must be free: the constraint says so."""
    statement = sa.insert(channels).values(**_bound(values)).returning(*c)
    with _quoting_nothing():
        return connection.execute(statement).mappings().one()


def update(connection: Connection, channel_id: int, values: Mapping[str, Any]) -> RowMapping | None:
    """Change a channel; the row, or None when there is none."""
    statement = sa.update(channels).where(c.id == channel_id).values(**_bound(values)).returning(*c)
    with _quoting_nothing():
        return connection.execute(statement).mappings().one_or_none()


def get(connection: Connection, channel_id: int) -> RowMapping | None:
    """One channel, with its secrets, or None."""
    return connection.execute(sa.select(*c).where(c.id == channel_id)).mappings().one_or_none()


def lock(connection: Connection, channel_id: int) -> RowMapping | None:
    """One channel, locked until the transaction ends, or None."""
    return connection.execute(sa.select(*c).where(c.id == channel_id).with_for_update()).mappings().one_or_none()


def lock_names(connection: Connection) -> None:
    """Wait until no other transaction gives a channel a name."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(NAMES_LOCK)))


def is_taken(connection: Connection, name: str, but: int | None) -> bool:
    """Whether a channel other than `but` has this name."""
    query = sa.select(c.id).where(c.name == name)
    if but is not None:
        query = query.where(c.id != but)
    return connection.execute(query).first() is not None


def page(connection: Connection, limit: int, after: int | None) -> Sequence[RowMapping]:
    """Up to `limit` channels after this id, the oldest first."""
    query = sa.select(*c).order_by(c.id).limit(limit)
    if after is not None:
        query = query.where(c.id > after)
    return connection.execute(query).mappings().all()


def enabled(connection: Connection) -> Sequence[RowMapping]:
    """Every channel that is switched on, without its secrets."""
    shown = [column for column in c if column.name not in SECRETS]
    return connection.execute(sa.select(*shown).where(c.enabled).order_by(c.id)).mappings().all()


def delete(connection: Connection, channel_id: int) -> bool:
    """Forget a channel with its deliveries; False when there is none."""
    return connection.execute(sa.delete(channels).where(c.id == channel_id)).rowcount == 1


def note_delivered(connection: Connection, now: datetime, channel_id: int) -> None:
    """The receiver took something: what failed before is no news."""
    values = {"last_delivered_at": now, "last_failed_at": None, "last_error": None}
    connection.execute(sa.update(channels).where(c.id == channel_id).values(**values))


def note_failed(connection: Connection, now: datetime, channel_id: int, words: str) -> None:
    """A try failed, in these words."""
    values = {"last_failed_at": now, "last_error": words}
    connection.execute(sa.update(channels).where(c.id == channel_id).values(**values))
