"""The history that a tick drops."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.client_logs.store import weekly_partitions
from shared.postgres.door import database_now
from shared.tables import audit_log
from tests.tick.conftest import TickFunction
from tests.tick.world import set_last_tick


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
