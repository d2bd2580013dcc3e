"""Statements and checks for the tests of the driver, on a table `things` (id, word)."""

import socket
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.postgres import driver

NAMES = "SELECT name FROM pg_prepared_statements ORDER BY name"


def echo(connection: Connection, number: int) -> int:
    return int(connection.execute(sa.text("SELECT CAST(:number AS int)"), {"number": number}).scalar_one())


def add(connection: Connection, number: int, word: str = "one") -> None:
    connection.execute(sa.text("INSERT INTO things (id, word) VALUES (:id, :word)"), {"id": number, "word": word})


def word_of(connection: Connection, number: int) -> Any:
    return connection.execute(sa.text("SELECT word FROM things WHERE id = :id"), {"id": number}).scalar_one_or_none()


def raw(connection: Connection) -> driver.Connection:
    found = connection.connection.dbapi_connection
    assert isinstance(found, driver.Connection)
    return found


def kept_by_the_server(connection: Connection) -> list[str]:
    return list(connection.execute(sa.text(NAMES)).scalars())


def counting(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """A list with one entry for each round trip, that is each wait for ReadyForQuery."""
    trips: list[None] = []
    waiting = driver.Connection.handle_messages

    def wait(self: driver.Connection, context: Any) -> None:
        trips.append(None)
        waiting(self, context)

    monkeypatch.setattr(driver.Connection, "handle_messages", wait)
    return trips


def session(database_url: str) -> driver.Connection:
    """A connection without SQLAlchemy."""
    url = sa.make_url(database_url)
    sock = socket.create_connection((url.host, url.port))
    return driver.Connection(sock, user=url.username, database=url.database, password=url.password)
