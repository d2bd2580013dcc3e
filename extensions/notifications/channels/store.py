"""SQL of channels. Their secrets are in no error: neither in its parameters nor in Postgres' details."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from msgspec.structs import asdict
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from extensions.notifications.channels.rules import KeptChannel, OpenChannel
from shared.postgres import query
from shared.postgres.door import constraint_name, is_away, sqlstate
from shared.postgres.many import as_json
from shared.postgres.query import NO_ROW, Query
from shared.words.sentences import Sentence

NAMES_LOCK: Final = 7_305_008  # advisory lock of the transaction that names a channel
CODED: Final = "last_error"
SECRETS: Final = frozenset({"url", "signing_secret"})
COLUMNS: Final = KeptChannel.__struct_fields__
CHANNEL: Final = ", ".join(COLUMNS)
GIVEN: Final = [name for name in COLUMNS if name != "id" and not name.startswith("last_")]
"""The columns that people write; `last_…` are the outcomes of messages."""


class ChannelNotKept(Exception):
    """Postgres refused a channel that passed our own checks; the message names the constraint."""


class Hidden(str):
    """A text that `repr` hides: the error of a failed statement prints its parameters by `repr`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'…'"


@contextmanager
def _quoting_nothing() -> Iterator[None]:
    """Replace an error of Postgres by one without its text, which may quote the whole row."""
    try:
        yield
    except DBAPIError as error:
        if is_away(error):
            raise
        raise ChannelNotKept(f"SQLSTATE {sqlstate(error)}, constraint {constraint_name(error)}") from None


def _bound(values: Mapping[str, Any]) -> dict[str, Any]:
    hidden = {n: Hidden(v) for n, v in values.items() if n in SECRETS and v is not None}
    coded = {n: as_json(v) for n, v in values.items() if n == CODED}
    return {**values, **hidden, **coded}


def _set(column: str) -> str:
    return f"{column} = " + (f"CAST(CAST(:{column} AS text) AS jsonb)" if column == CODED else f":{column}")


INSERT = Query(
    f"""
    INSERT INTO notification_channels ({", ".join(GIVEN)}) VALUES ({", ".join(f":{one}" for one in GIVEN)})
    RETURNING {CHANNEL}
    """,
    KeptChannel,
)


def insert(connection: Connection, values: Mapping[str, Any]) -> KeptChannel:
    """Insert a channel; `values` are the columns of GIVEN. Returns it. Raises ChannelNotKept when the name is taken."""
    with _quoting_nothing():
        return INSERT.one(connection, **_bound(values))


UPDATE = Query(
    f"""
    UPDATE notification_channels SET {", ".join(_set(one) for one in COLUMNS if one != "id")} WHERE id = :id
    """,
    NO_ROW,
)


def update(connection: Connection, channel: KeptChannel) -> None:
    """Write all columns of a channel. The caller holds its row lock."""
    with _quoting_nothing():
        UPDATE.run(connection, **_bound(asdict(channel)))


@query.one_or_none(f"SELECT {CHANNEL} FROM notification_channels WHERE id = :channel_id")
def get(connection: Connection, channel_id: int) -> KeptChannel | None:
    """One channel, or None."""


@query.one_or_none(f"SELECT {CHANNEL} FROM notification_channels WHERE id = :channel_id FOR UPDATE")
def lock(connection: Connection, channel_id: int) -> KeptChannel | None:
    """One channel, with a row lock until the transaction ends, or None."""


LOCK_NAMES = Query("SELECT pg_advisory_xact_lock(:lock)", NO_ROW)


def lock_names(connection: Connection) -> None:
    """Wait until no other transaction gives a channel a name."""
    LOCK_NAMES.run(connection, lock=NAMES_LOCK)


@query.one("SELECT EXISTS (SELECT FROM notification_channels WHERE name = :name AND id IS DISTINCT FROM :but)")
def is_taken(connection: Connection, name: str, but: int | None) -> bool:
    """Whether a channel other than `but` has this name."""


PAGE = Query(
    f"SELECT {CHANNEL} FROM notification_channels WHERE id > :after ORDER BY id LIMIT :limit",
    KeptChannel,
)


def page(connection: Connection, limit: int, after: int | None) -> list[KeptChannel]:
    """Up to `limit` channels with an id above `after`, the oldest first."""
    return PAGE.all(connection, limit=limit, after=after or 0)


@query.rows(
    f"""
    SELECT {", ".join(OpenChannel.__struct_fields__)} FROM notification_channels
    WHERE enabled ORDER BY id
    """
)
def enabled(connection: Connection) -> list[OpenChannel]:
    """Every enabled channel, without its secrets."""


@query.run("DELETE FROM notification_channels WHERE id = :channel_id")
def delete(connection: Connection, channel_id: int) -> bool:
    """Delete a channel with its deliveries; False when there is none."""


@query.run(
    """
    UPDATE notification_channels SET last_delivered_at = :now, last_failed_at = NULL, last_error = NULL
    WHERE id = :channel_id
    """
)
def note_delivered(connection: Connection, now: datetime, channel_id: int) -> None:
    """Note that the receiver took a message, and clear the last error."""


NOTE_FAILED = Query(
    """
    UPDATE notification_channels SET last_failed_at = :now, last_error = CAST(CAST(:why AS text) AS jsonb)
    WHERE id = :id
    """,
    NO_ROW,
)


def note_failed(connection: Connection, now: datetime, channel_id: int, why: Sentence) -> None:
    """Note that a try failed, and why."""
    NOTE_FAILED.run(connection, now=now, id=channel_id, why=as_json(why))
