"""SQL of channels. What they keep secret is in no error: neither among quoted parameters nor in Postgres' details."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from shared.notifications.channels.rules import KeptChannel, OpenChannel
from shared.postgres.door import constraint_name, is_away, sqlstate
from shared.postgres.fragments import no_later
from shared.postgres.query import NO_ROW, Query

NAMES_LOCK: Final = 7_305_008  # advisory lock of the transaction that names a channel
SECRETS: Final = frozenset({"url", "signing_secret"})
COLUMNS: Final = [field.name for field in fields(KeptChannel)]
CHANNEL: Final = ", ".join(COLUMNS)
GIVEN: Final = [name for name in COLUMNS if name != "id" and not name.startswith("last_")]
"""The columns that people decide on: what became of its messages is noted elsewhere."""


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


INSERT = Query(
    f"""
    INSERT INTO notification_channels ({", ".join(GIVEN)}) VALUES ({", ".join(f":{one}" for one in GIVEN)})
    RETURNING {CHANNEL}
    """,  # noqa: S608 - made of constants
    KeptChannel,
)


def insert(connection: Connection, values: Mapping[str, Any]) -> KeptChannel:
    """A new channel, from the values of GIVEN. Its name must be free: the constraint says so."""
    with _quoting_nothing():
        return INSERT.one(connection, **_bound(values))


UPDATE = Query(
    f"""
    UPDATE notification_channels SET {", ".join(f"{one} = :{one}" for one in COLUMNS if one != "id")} WHERE id = :id
    """,  # noqa: S608 - made of constants
    NO_ROW,
)


def update(connection: Connection, channel: KeptChannel) -> None:
    """Keep a channel that is locked as it is now."""
    with _quoting_nothing():
        UPDATE.run(connection, **_bound(vars(channel)))


GET = Query(f"SELECT {CHANNEL} FROM notification_channels WHERE id = :id", KeptChannel)  # noqa: S608 - constants


def get(connection: Connection, channel_id: int) -> KeptChannel | None:
    """One channel, or None."""
    return GET.one_or_none(connection, id=channel_id)


LOCK = Query(
    f"SELECT {CHANNEL} FROM notification_channels WHERE id = :id FOR UPDATE",  # noqa: S608 - made of constants
    KeptChannel,
)


def lock(connection: Connection, channel_id: int) -> KeptChannel | None:
    """One channel, locked until the transaction ends, or None."""
    return LOCK.one_or_none(connection, id=channel_id)


LOCK_NAMES = Query("SELECT pg_advisory_xact_lock(:lock)", NO_ROW)


def lock_names(connection: Connection) -> None:
    """Wait until no other transaction gives a channel a name."""
    LOCK_NAMES.run(connection, lock=NAMES_LOCK)


IS_TAKEN = Query(
    "SELECT EXISTS (SELECT FROM notification_channels WHERE name = :name AND id IS DISTINCT FROM :but)", bool
)


def is_taken(connection: Connection, name: str, but: int | None) -> bool:
    """Whether a channel other than `but` has this name."""
    return IS_TAKEN.one(connection, name=name, but=but)


PAGE = Query(
    f"SELECT {CHANNEL} FROM notification_channels WHERE id > :after ORDER BY id LIMIT :limit",  # noqa: S608 - constants
    KeptChannel,
)


def page(connection: Connection, limit: int, after: int | None) -> list[KeptChannel]:
    """Up to `limit` channels after this id, the oldest first."""
    return PAGE.all(connection, limit=limit, after=after or 0)


OPEN = Query(
    f"""
    SELECT {", ".join(field.name for field in fields(OpenChannel))} FROM notification_channels
    WHERE enabled ORDER BY id
    """,  # noqa: S608 - made of constants
    OpenChannel,
)


def enabled(connection: Connection) -> list[OpenChannel]:
    """Every channel that is switched on, without its secrets."""
    return OPEN.all(connection)


DELETE = Query("DELETE FROM notification_channels WHERE id = :id", NO_ROW)


def delete(connection: Connection, channel_id: int) -> bool:
    """Forget a channel with its deliveries; False when there is none."""
    return DELETE.run(connection, id=channel_id) == 1


NOTE_DELIVERED = Query(
    """
    UPDATE notification_channels SET last_delivered_at = :now, last_failed_at = NULL, last_error = NULL WHERE id = :id
    """,
    NO_ROW,
)


def note_delivered(connection: Connection, now: datetime, channel_id: int) -> None:
    """The receiver took something: what failed before is no news."""
    NOTE_DELIVERED.run(connection, now=now, id=channel_id)


NOTE_FAILED = Query(
    "UPDATE notification_channels SET last_failed_at = :now, last_error = :words WHERE id = :id", NO_ROW
)


def note_failed(connection: Connection, now: datetime, channel_id: int, words: str) -> None:
    """A try failed, in these words."""
    NOTE_FAILED.run(connection, now=now, id=channel_id, words=words)


FORGET_THE_FUTURE = Query(no_later("notification_channels", "tells_since"), NO_ROW)


def forget_the_future(connection: Connection, now: datetime) -> None:
    """Let channels that were made, or switched on, at a time that has not come yet tell from now on."""
    FORGET_THE_FUTURE.run(connection, now=now)
