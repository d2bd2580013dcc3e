"""The tick makes the batches of schedules whose time has come, also when it is late or the clock was wrong."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from extensions.batches import schedules_operations as operations
from extensions.batches import schedules_rules as rules
from extensions.batches import schedules_store as store
from extensions.batches.rules import BatchRequest
from extensions.batches.schedules_rules import KeptSchedule, WantedSchedule, When
from shared.postgres.door import database_now
from shared.tables import command_batches, command_schedules
from shared.vocabulary import CommandAction, ScheduleState, Weekday
from tests.stores.commands_world import new_client
from tests.tick.conftest import TickFunction
from tests.tick.world import commands_of, set_last_tick

pytestmark = pytest.mark.usefixtures("makers")

HOUR = timedelta(hours=1)
HALF_A_DAY_ON = f"{datetime.now(UTC) + 12 * HOUR:%H:%M}"  # no time of its own passes while a test moves one back
DAILY = When(time_zone="UTC", weekdays=tuple(Weekday), local_time=HALF_A_DAY_ON)


@pytest.fixture
def shop(engine: Engine) -> Iterator[str]:
    """A new site; afterwards no schedule and no running batch is left."""
    yield f"Site {uuid.uuid4()}"
    with engine.begin() as connection:
        connection.execute(sa.delete(command_schedules))
        connection.execute(sa.update(command_batches).values(state="aborted"))


@pytest.fixture
def pair(engine: Engine, shop: str) -> list[str]:
    return [new_client(engine, site=shop) for _ in range(2)]


def planned(engine: Engine, shop: str, ago: timedelta = timedelta()) -> KeptSchedule:
    """A schedule whose present time came so long ago."""
    request = BatchRequest(CommandAction.RESTART_APP, "user:ada", "nightly", waves=(1, "rest"), filter={"site": shop})
    with engine.begin() as connection:
        now = database_now(connection)
        one = operations.plan(connection, now, WantedSchedule(request=request, when=DAILY))
        store.move_on(connection, one.id, now - ago)
        return operations.find(connection, one.id)


def found(engine: Engine, one: KeptSchedule) -> KeptSchedule:
    with engine.connect() as connection:
        return operations.find(connection, one.id)


def test_a_tick_makes_the_batch_and_sends_its_first_wave(
    expiring: TickFunction, engine: Engine, shop: str, pair: list[str]
) -> None:
    one = planned(engine, shop)

    did = expiring.tick()["did"]

    assert did["schedules"] == {"made": 1, "missed": 0, "failed": 0}
    assert (did["batches"]["sent"], sum(len(commands_of(engine, client)) for client in pair)) == (1, 1)
    after = found(engine, one)
    assert rules.state_of(after) is ScheduleState.RUNNING
    assert after.next_at == rules.next_time(DAILY, one.next_at or after.created_at)
    assert expiring.tick()["did"]["schedules"] == {"made": 0, "missed": 0, "failed": 0}


def test_a_late_tick_makes_it_within_the_grace_and_says_what_it_missed(
    expiring: TickFunction, engine: Engine, shop: str, pair: list[str]
) -> None:
    assert pair
    within, beyond = planned(engine, shop, timedelta(minutes=5)), planned(engine, shop, HOUR)
    set_last_tick(engine, 2 * HOUR)

    report = expiring.tick()

    assert report["late"] is True
    assert report["did"]["schedules"] == {"made": 1, "missed": 1, "failed": 0}
    assert found(engine, within).last_batch_id is not None
    assert found(engine, beyond).last_why == rules.scheduler_late(minutes=60)


def test_after_the_clock_was_set_back_the_next_time_is_the_next_one_again(
    expiring: TickFunction, engine: Engine, shop: str
) -> None:
    one = planned(engine, shop)
    with engine.begin() as connection:
        now = database_now(connection)
        store.move_on(connection, one.id, now + timedelta(days=400))  # as a clock that was a year ahead left it
    set_last_tick(engine, -HOUR)

    assert expiring.tick()["failed"] == []

    assert found(engine, one).next_at == rules.next_time(DAILY, now)


def test_the_ticks_own_role_may_drop_a_schedule_with_its_clients_and_times(
    expiring: TickFunction, engine: Engine, tick_engine: Engine, shop: str, pair: list[str]
) -> None:
    request = BatchRequest(CommandAction.RESTART_APP, "user:ada", shop, clients=tuple(pair))
    with engine.begin() as connection:
        now = database_now(connection)
        one = operations.plan(connection, now, WantedSchedule(request=request, when=DAILY))
        store.move_on(connection, one.id, now)
    expiring.tick()
    with engine.begin() as connection:
        assert found(engine, one).last_batch_id is not None
        operations.cancel(connection, now, one.id, "user:ben")

    with tick_engine.begin() as connection:
        assert store.drop_history(connection, now + HOUR) == 1

    with engine.connect() as connection:
        assert store.get(connection, one.id) is None
