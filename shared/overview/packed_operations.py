"""Make the packed form of the overview from the columns that Postgres wrote as JSON."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection

from shared import typed
from shared.overview import packed_rules, packed_store

FEW_WORDS: Final = ("site", "app_version")  # other columns compress well by themselves


def whole_fleet(connection: Connection, now: datetime, recovery: Mapping[str, str]) -> bytes:
    """All clients. `recovery`: uuid of an unwell client -> what recovery does about it, as JSON text."""
    return _written(packed_store.whole_fleet(connection, packed_rules.second_of(now), recovery))


def some_clients(connection: Connection, now: datetime, uuids: Sequence[str], recovery: Mapping[str, str]) -> bytes:
    """These clients, without deleted ones."""
    return _written(packed_store.some_clients(connection, packed_rules.second_of(now), uuids, recovery))


def heartbeats(connection: Connection, now: datetime) -> bytes:
    """The last heartbeat of every client that was ever heard."""
    return _written(packed_store.heartbeats(connection, packed_rules.second_of(now)))


def _written(columns: Mapping[str, str]) -> bytes:
    """Join the columns to one JSON object in one step: copying a large text costs as much as writing it."""
    parts: list[bytes] = []
    for name, text in columns.items():
        parts += (b',"' if parts else b'{"', name.encode(), b'":', _shortest(name, text.encode()))
    return b"".join([*parts, b"}"])


def _shortest(name: str, column: bytes) -> bytes:
    return min(column, _in_words(column), key=len) if name in FEW_WORDS else column


def _in_words(column: bytes) -> bytes:
    words, places = packed_rules.in_words(typed.decode(column, list[str | None]))
    return msgspec.json.encode({"words": words, "places": places})
