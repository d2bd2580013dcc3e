"""Common fixtures of the tests of stores."""

from collections.abc import Iterator
from datetime import datetime

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.postgres.door import database_now, engine_for, transaction
from tests.stores.commands_world import add_client
from tests.stores.recovery_world import hear


@pytest.fixture
def now(connection: Connection) -> datetime:
    """The time of the test's transaction."""
    return database_now(connection)


@pytest.fixture
def listening(connection: Connection, now: datetime) -> None:
    """The bridge has listened for three days, and hears the fleet."""
    hear(connection, now)


@pytest.fixture
def client(connection: Connection, now: datetime) -> str:
    """The uuid of a client that was heard just now."""
    return add_client(connection, now)


@pytest.fixture
def with_things(database_url: str) -> Iterator[Engine]:
    """An engine with a single connection, and a table `things` (id, word)."""
    engine = engine_for(database_url, "tests", pool_size=1)
    with transaction(engine) as connection:
        connection.execute(sa.text("CREATE TABLE IF NOT EXISTS things (id int PRIMARY KEY, word text)"))
        connection.execute(sa.text("TRUNCATE things"))
    yield engine
    with transaction(engine) as connection:
        connection.execute(sa.text("DROP TABLE things"))
    engine.dispose()
