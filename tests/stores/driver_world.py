"""What the tests of prepared statements do and look at, in a table `things` (id, word)."""

from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.postgres.kept_statements import PLANNED_ONCE
from shared.postgres.prepared import PreparingConnection

NAMES = "SELECT name FROM pg_prepared_statements ORDER BY name"


def echo(connection: Connection, number: int) -> int:
    return int(connection.execute(sa.text("SELECT CAST(:number AS int)"), {"number": number}).scalar_one())


def add(connection: Connection, number: int, word: str = "one") -> None:
    connection.execute(sa.text("INSERT INTO things (id, word) VALUES (:id, :word)"), {"id": number, "word": word})


def word_of(connection: Connection, number: int) -> Any:
    return connection.execute(sa.text("SELECT word FROM things WHERE id = :id"), {"id": number}).scalar_one_or_none()


def raw(connection: Connection) -> PreparingConnection:
    found = connection.connection.dbapi_connection
    assert isinstance(found, PreparingConnection)
    return found


def kept_by_the_server(connection: Connection) -> list[str]:
    return list(connection.execute(sa.text(NAMES)).scalars())


def counting(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One entry for each wait for the server to be ready again: a round trip."""
    trips: list[None] = []
    waiting = PreparingConnection.handle_messages

    def wait(self: PreparingConnection, context: Any) -> None:
        trips.append(None)
        waiting(self, context)

    monkeypatch.setattr(PreparingConnection, "handle_messages", wait)
    return trips


def planned_once(connection: Connection, divisor: int) -> int:
    text = "SELECT word IS NULL, 7 / CAST(:divisor AS int) FROM things WHERE id = 1 " + PLANNED_ONCE
    return int(connection.execute(sa.text(text), {"divisor": divisor}).one()[1])


def plans(connection: Connection, like: str) -> Any:
    text = f"SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%{like}%'"
    return tuple(connection.execute(sa.text(text)).one())
