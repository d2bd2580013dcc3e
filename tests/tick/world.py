"""Clients and queries for the tests of the tick."""

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine

from shared.postgres.door import database_now
from shared.tables import (
    bridge_status,
    client_commands,
    scheduler_status,
)
from tests.stores.commands_world import new_client


def crashed_client(engine: Engine) -> str:
    """Add a client that was just heard and whose player crashed a minute ago, while the bridge listens."""
    with engine.begin() as connection:
        now = database_now(connection)
        connection.execute(sa.update(bridge_status).values(connected_since=now, canary_at=now))
    minute_ago = now - timedelta(minutes=1)
    return new_client(engine, process_status="crashed", process_status_since=minute_ago, status="crashed")


def commands_of(engine: Engine, client: str) -> list[dict[str, Any]]:
    with engine.connect() as connection:
        query = sa.select(client_commands).where(client_commands.c.client_uuid == client)
        return [dict(row) for row in connection.execute(query).mappings()]


def set_last_tick(engine: Engine, ago: timedelta | None) -> None:
    with engine.begin() as connection:
        at = None if ago is None else database_now(connection) - ago
        connection.execute(sa.update(scheduler_status).values(last_tick_at=at))


def last_tick(engine: Engine) -> dict[str, Any]:
    with engine.connect() as connection:
        return dict(connection.execute(sa.select(scheduler_status)).mappings().one())
