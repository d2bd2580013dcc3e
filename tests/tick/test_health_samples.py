"""Each display's health is sampled once in its turn by extensions.history, whatever happened to the last tick."""

from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from functions.scheduler_tick.steps import STEPS
from shared.postgres.door import database_now
from shared.tables import client_health, client_health_history
from tests.stores.commands_world import new_client
from tests.tick.conftest import TickFunction
from tests.tick.world import set_last_tick

DISPLAYS = 40


@pytest.fixture
def reporting(engine: Engine) -> set[str]:
    """Displays that have just reported their health, without samples yet."""
    with engine.begin() as connection:
        connection.execute(sa.delete(client_health_history))
        connection.execute(sa.delete(client_health))
    uuids = {new_client(engine) for _ in range(DISPLAYS)}
    with engine.begin() as connection:
        now = database_now(connection)
        rows = [{"client_uuid": uuid, "received_at": now, "cpu_percent": 50.0, "body": {}} for uuid in uuids]
        connection.execute(sa.insert(client_health).values(rows))
    return uuids


def sampled(engine: Engine) -> list[str]:
    """The sampled displays, one entry for each sample."""
    with engine.connect() as connection:
        rows = connection.execute(sa.select(client_health_history.c.clients)).scalars()
        return sorted(uuid for clients in rows for uuid in clients)


def test_a_tick_after_a_rest_samples_every_display_once(
    expiring: TickFunction, engine: Engine, reporting: set[str]
) -> None:
    set_last_tick(engine, timedelta(hours=5))

    report = expiring.tick()

    assert report["late"] is True
    assert report["failed"] == []
    assert 0 < report["did"]["health_history"]["rows"] <= DISPLAYS  # some share a row
    assert sampled(engine) == sorted(reporting)


def test_a_tick_that_died_before_it_was_written_down_is_made_good_by_the_next_one(
    expiring: TickFunction, engine: Engine, reporting: set[str]
) -> None:
    """Until a tick is recorded, the next one begins where the previous one began."""
    set_last_tick(engine, timedelta(hours=5))
    expiring.tick()
    first = sampled(engine)
    set_last_tick(engine, timedelta(hours=5))

    expiring.tick()

    assert sampled(engine) in (first, sorted([*first, *new_turn(engine)]))
    assert set(sampled(engine)) == reporting


def new_turn(engine: Engine) -> list[str]:
    """The displays of the newest sample, if the minute changed between two ticks."""
    newest = sa.select(sa.func.max(client_health_history.c.at)).scalar_subquery()
    query = sa.select(client_health_history.c.clients).where(client_health_history.c.at == newest)
    with engine.connect() as connection:
        return [uuid for clients in connection.execute(query).scalars() for uuid in clients]


def test_a_health_history_that_cannot_be_written_stops_nothing_else(
    expiring: TickFunction, engine: Engine, reporting: set[str]
) -> None:
    assert reporting
    set_last_tick(engine, None)
    with engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE client_health_history RENAME TO away"))
    try:
        report = expiring.tick()
    finally:
        with engine.begin() as connection:
            connection.execute(sa.text("ALTER TABLE away RENAME TO client_health_history"))

    assert "health_history" in report["failed"]
    assert {*report["failed"], *report["did"]} == set(STEPS)
    assert "retention" in report["did"]
