"""What most tests of stores begin with."""

from datetime import datetime

import pytest
from sqlalchemy import Connection

from shared.db import database_now
from tests.stores.commands_world import add_client


@pytest.fixture
def now(connection: Connection) -> datetime:
    """The moment of the test's transaction."""
    return database_now(connection)


@pytest.fixture
def client(connection: Connection, now: datetime) -> str:
    """The uuid of a client that was heard just now."""
    return add_client(connection, now)
