"""The history that a tick stores and drops.

Each display's health is sampled once in its turn, whatever happened to the last tick.
"""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from functions.scheduler_tick.steps import STEPS
from shared.client_logs.store import weekly_partitions
from shared.postgres.door import database_now
from shared.tables import audit_log, client_health, client_health_history
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


# --- retention ---


def audit_lines(engine: Engine, at: datetime) -> int:
    with engine.connect() as connection:
        lines = sa.select(sa.func.count()).select_from(audit_log).where(audit_log.c.at == at)
        return int(connection.execute(lines).scalar_one())


def log_weeks(now: datetime, weeks: int) -> list[str]:
    """The partitions of both classes for the week `weeks` weeks from now."""
    return [(now + timedelta(weeks=weeks)).strftime(f"client_logs_{name}_%Gw%V") for name in ("routine", "serious")]


@pytest.fixture
def audited(engine: Engine) -> tuple[datetime, datetime]:
    """The times of two entries of the audit log: one just too old, one not."""
    with engine.begin() as connection:
        now = database_now(connection)
        old, young = now - timedelta(days=366), now - timedelta(days=364)
        for at in (old, young):
            connection.execute(sa.insert(audit_log).values(at=at, actor="x", action="x", target="x", result="ok"))
    return old, young


def prepare_log_weeks(connection: Connection, now: datetime) -> None:
    """Remove the partitions of the third week ahead, and add those of six weeks ago."""
    for name in log_weeks(now, 3):
        connection.execute(sa.text(f"DROP TABLE IF EXISTS {name}"))
    six_weeks_ago = "make_client_log_partition(class, date_trunc('week', now() AT TIME ZONE 'UTC')::date - 42)"
    connection.execute(sa.text(f"SELECT {six_weeks_ago} FROM unnest(ARRAY['routine', 'serious']) AS class"))
    assert set(log_weeks(now, -6)) <= set(weekly_partitions(connection))


def test_the_first_tick_of_an_hour_makes_partitions_ahead_and_drops_what_is_old(
    expiring: TickFunction, engine: Engine, audited: tuple[datetime, datetime]
) -> None:
    old, young = audited
    with engine.begin() as connection:
        now = database_now(connection)
        prepare_log_weeks(connection, now)
    set_last_tick(engine, timedelta(hours=1))

    done = expiring.tick()["did"]["retention"]

    with engine.connect() as connection:
        there = set(weekly_partitions(connection))
    assert all(name in there for weeks in range(4) for name in log_weeks(now, weeks))
    assert [name in there for name in log_weeks(now, -6)] == [False, True]  # 30 and 90 days
    assert (done["partitions_made"], done["partitions_dropped"]) == (2, 1)
    assert done["audit"] == 1
    assert (audit_lines(engine, old), audit_lines(engine, young)) == (0, 1)
    assert set(done) >= {"commands", "recovery_events", "client_history", "sessions"}
