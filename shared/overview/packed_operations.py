"""The overview column by column, as JSON, from the columns that Postgres wrote."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection

from shared.overview import packed_rules, packed_store

FEW_WORDS: Final = ("site", "app_version")  # of the others few differ at all, and packing finds that by itself


def whole_fleet(connection: Connection, now: datetime, recovery: Mapping[str, str]) -> bytes:
    """Every client. `recovery` is what recovery does about the unwell ones, by uuid, already as JSON text."""
    return written(packed_store.whole_fleet(connection, packed_rules.second_of(now), recovery))


def some_clients(connection: Connection, now: datetime, uuids: Sequence[str]) -> dict[str, str]:
    """The clients among these that are not deleted: each column as JSON, without what recovery does."""
    return packed_store.some_clients(connection, packed_rules.second_of(now), uuids)


def holds_for_any(rule: Callable[..., bool], columns: Mapping[str, str], names: Sequence[str]) -> bool:
    """Whether this holds for what the columns `names` say of any client. Most say the same, which is judged once."""
    decoded = (msgspec.json.decode(columns[name]) for name in names)
    return any(rule(*values) for values in set(zip(*decoded, strict=True)))


def judged(columns: Mapping[str, str], names: Sequence[str]) -> list[dict[str, Any]]:
    """The columns `names`, of which one is uuid, by client."""
    decoded = {name: msgspec.json.decode(columns[name]) for name in names}
    rows = zip(*({**decoded, "uuid": packed_rules.uuids_of(decoded["uuid"])}.values()), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def with_recovery(columns: Mapping[str, str], recovery: Sequence[Mapping[str, Any] | None]) -> bytes:
    """The columns with what recovery does about each of their clients."""
    return written({**columns, "recovery": msgspec.json.encode(recovery).decode()})


def heartbeats(connection: Connection, now: datetime) -> bytes:
    """The last heartbeat of every client that was ever heard."""
    return written(packed_store.heartbeats(connection, packed_rules.second_of(now)))


def written(columns: Mapping[str, str]) -> bytes:
    """The columns as one object, put together once: each copy of a large text is as slow as writing it."""
    parts: list[bytes] = []
    for name, text in columns.items():
        parts += (b',"' if parts else b'{"', name.encode(), b'":', _shortest(name, text.encode()))
    return b"".join([*parts, b"}"])


def _shortest(name: str, column: bytes) -> bytes:
    return min(column, _in_words(column), key=len) if name in FEW_WORDS else column


def _in_words(column: bytes) -> bytes:
    words, places = packed_rules.in_words(msgspec.json.decode(column, type=list[str | None]))
    return msgspec.json.encode({"words": words, "places": places})
