"""Every scenario in recovery's contract, by whole ticks on real Postgres; without a broker, so commands wait."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from deploy.parts.probes import free_port
from functions.scheduler_tick import steps
from functions.scheduler_tick.frame import World
from functions.scheduler_tick.steps import LATE_STEPS
from shared import config
from shared.commands import operations as commands
from shared.conversions.rules import timeouts
from shared.leadership import rules as leadership_rules
from shared.outside.mqtt import Publisher
from shared.outside.task_queue import TaskQueue
from shared.postgres.door import database_now
from shared.recovery import operations as recovery
from shared.recovery.breakers import operations as breakers
from shared.tables import client_commands, client_recovery, clients
from tests.stores.commands_world import TIMINGS
from tests.stores.quiet_world import hold, leave_out, leave_out_site, maintain
from tests.stores.recovery_world import ON, beat, breaker_decisions, crash, fleet, hear
from tests.tick.world import set_last_tick

MINUTE = timedelta(minutes=1)
EMPTY = "TRUNCATE clients, recovery_breakers, quiet_times CASCADE"


@pytest.fixture(autouse=True)
def _canaries_stay_young(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scenario may take any time on a slow machine."""
    monkeypatch.setattr(leadership_rules, "CANARY_MAX_AGE", timedelta(minutes=15))


@pytest.fixture(scope="module")
def world(tick_engine: Engine) -> World:
    """The services of a tick with recovery on, without broker and queue."""
    nowhere = f"127.0.0.1:{free_port()}"
    settings = config.load(
        {
            "CRASH_RECOVERY_ENABLED": "true",
            "MQTT_URL": f"mqtt://{nowhere}",
            "MQTT_USERNAME": "scheduler",
            "MQTT_PASSWORD": "x",
        }
    )
    queue = TaskQueue(f"grpc://{nowhere}/projects/p/locations/l", "http://x", "x@y.test", timeouts(MINUTE).dispatch)
    return World(settings, tick_engine, Publisher.from_config(settings), queue, commands.timings(settings))


@pytest.fixture
def now(engine: Engine) -> Iterator[datetime]:
    """The time of the scenario's fleet; the bridge has listened for days."""
    set_last_tick(engine, None)
    with engine.begin() as connection:
        at = database_now(connection)
        hear(connection, at)
        yield_at = at
    yield yield_at
    with engine.begin() as connection:
        connection.execute(sa.text(EMPTY))


def made(engine: Engine, make: Callable[[Connection], object]) -> None:
    with engine.begin() as connection:
        make(connection)


def tick(world: World) -> dict[str, object]:
    """Run a whole tick. Returns recovery's part of its report."""
    report = steps.run(world)
    assert report["failed"] == []
    did: dict[str, object] = report["did"]["recover"]
    return did


def actions(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        found = sa.select(client_commands.c.action).order_by(client_commands.c.action)
        return list(connection.execute(found).scalars())


def open_breakers(engine: Engine) -> set[str | None]:
    with engine.connect() as connection:
        return {site for _, site in breakers.standing(connection, ON)}


def ailing(connection: Connection, now: datetime) -> None:
    """Of 1,000 displays 3 crashed, 1 is silent but connected, and 1 is silent and gone."""
    fleet(connection, now, 995)
    for _ in range(3):
        crash(connection, now)
    fleet(connection, now - 10 * MINUTE, 1)
    fleet(connection, now - 10 * MINUTE, 1, presence="offline")


def half_silent_and_one_crashed(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 499)
    crash(connection, now)
    fleet(connection, now - 4 * MINUTE, 500)


def bridge_back_for_20_seconds(connection: Connection, now: datetime) -> None:
    """It was away for 12 minutes."""
    fleet(connection, now, 300)
    fleet(connection, now - 12 * MINUTE - timedelta(seconds=20), 700)
    crash(connection, now - 12 * MINUTE - timedelta(seconds=20))
    hear(connection, now, since=timedelta(seconds=20))


def bridge_back_for_100_seconds(connection: Connection, now: datetime) -> None:
    """It was away for 12 minutes, and of 1,000 displays 300 have not returned."""
    fleet(connection, now, 700)
    fleet(connection, now - 12 * MINUTE - timedelta(seconds=100), 300)
    hear(connection, now, since=timedelta(seconds=100))


def four_gone_for_half_an_hour(connection: Connection, now: datetime) -> None:
    fleet(connection, now, 996)
    fleet(connection, now - 30 * MINUTE, 4)


def new_cables_at_a_site(connection: Connection, now: datetime) -> None:
    """One display of the site crashed, and forty are silent; a maintenance window says why."""
    fleet(connection, now, 30)
    crash(connection, now, site="Basel")
    fleet(connection, now - 4 * MINUTE, 40, site="Basel")
    maintain(connection, now - MINUTE, now + 60 * MINUTE, site="Basel")


Scenario = Callable[[Connection, datetime], None]
SCENARIOS: list[tuple[Scenario, list[str], set[str | None]]] = [
    (ailing, ["reboot_host", "restart_app", "restart_app", "restart_app"], set()),
    (half_silent_and_one_crashed, ["restart_app"], {None}),
    (bridge_back_for_20_seconds, [], {None}),
    (bridge_back_for_100_seconds, [], {None}),
    (four_gone_for_half_an_hour, ["reboot_host"] * 4, set()),
    (new_cables_at_a_site, [], set()),
]


@pytest.mark.parametrize(("happened", "asked", "opened"), SCENARIOS, ids=[one[0].__name__ for one in SCENARIOS])
def test_a_tick_asks_for_what_the_contract_says_once_and_for_nothing_else(
    world: World, engine: Engine, now: datetime, happened: Scenario, asked: list[str], opened: set[str | None]
) -> None:
    made(engine, lambda connection: happened(connection, now))

    first, second = tick(world), tick(world)

    assert (first["restarts"], first["reboots"]) == (asked.count("restart_app"), asked.count("reboot_host"))
    assert (second["restarts"], second["reboots"]) == (0, 0)
    assert (actions(engine), open_breakers(engine)) == (asked, opened)


def test_with_a_dead_canary_nobody_is_acted_on(world: World, engine: Engine, now: datetime) -> None:
    made(engine, lambda connection: ailing(connection, now))
    made(engine, lambda connection: hear(connection, now - timedelta(seconds=901)))

    did = tick(world)

    assert (actions(engine), did["blocked_bridge"]) == ([], True)
    with engine.connect() as connection:
        shown = sa.select(clients.c.status).where(clients.c.presence == "offline")
        assert connection.execute(shown).scalar_one() == "unknown"


def test_a_tick_that_comes_much_too_late_opens_the_breaker_and_acts_on_nobody(
    world: World, engine: Engine, now: datetime
) -> None:
    made(engine, lambda connection: half_silent_and_one_crashed(connection, now))
    set_last_tick(engine, 4 * MINUTE)

    report = steps.run(world)

    assert (report["late"], list(report["did"]), report["did"]["breakers"]) == (True, list(LATE_STEPS), {"open": 1})
    assert (actions(engine), open_breakers(engine)) == ([], {None})
    with engine.connect() as connection:
        assert breaker_decisions(connection) == [("breaker_open", None)]


# --- races ---


Saying = Callable[[Connection, str], object]
SAYINGS: dict[str, Saying] = {
    "hold": lambda c, uuid: hold(c, database_now(c), uuid),
    "exclude": lambda c, uuid: leave_out(c, database_now(c), uuid),
    "exclude the site": lambda c, _: leave_out_site(c, database_now(c), "Basel"),
    "resume": lambda c, uuid: recovery.resume(c, database_now(c), uuid, "user:anna"),
    "release": lambda c, _: breakers.release(c, database_now(c), "user:anna", None),
}


@pytest.mark.parametrize("word", SAYINGS)
def test_what_an_operator_says_waits_for_the_round_that_runs(engine: Engine, now: datetime, word: str) -> None:
    ill: list[str] = []
    made(engine, lambda connection: ill.append(crash(connection, now, site="Basel")))

    def say() -> int:
        """How many commands exist when the operator gets an answer."""
        with engine.begin() as connection:
            SAYINGS[word](connection, ill[0])
            return int(connection.execute(sa.select(sa.func.count()).select_from(client_commands)).scalar_one())

    with engine.connect() as ticking, ticking.begin() as round_, ThreadPoolExecutor(1) as pool:
        assert recovery.recover(ticking, now, ON, TIMINGS).command_ids
        answered = pool.submit(say)
        wait_for_a_lock(engine)
        round_.commit()
        assert answered.result(timeout=60) == 1


def test_a_display_that_recovers_while_the_tick_decides_is_left_alone(engine: Engine, now: datetime) -> None:
    ill: list[str] = []
    made(engine, lambda connection: ill.append(crash(connection, now)))

    def round_() -> tuple[str, ...]:
        with engine.begin() as connection:
            return recovery.recover(connection, database_now(connection), ON, TIMINGS).command_ids

    with engine.connect() as bridge, bridge.begin() as writing, ThreadPoolExecutor(1) as pool:
        well = sa.update(clients).where(clients.c.uuid == ill[0])
        bridge.execute(well.values(process_status="running", process_status_since=now, status="running"))
        beat(bridge, ill, now)
        ticking = pool.submit(round_)
        wait_for_a_lock(engine)
        writing.commit()
        assert ticking.result(timeout=60) == ()


def wait_for_a_lock(engine: Engine) -> None:
    """Wait until a statement waits for a locked row."""
    deadline = time.monotonic() + 60
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    with engine.connect() as connection:
        while not connection.execute(sa.text(waiting)).scalar_one():
            assert time.monotonic() < deadline, "nobody waited"
            connection.rollback()


def test_a_round_that_dies_half_way_leaves_nothing(engine: Engine, now: datetime) -> None:
    ill: list[str] = []
    made(engine, lambda connection: ill.append(crash(connection, now)))

    with engine.connect() as connection, connection.begin() as dying:
        assert recovery.recover(connection, now, ON, TIMINGS).command_ids
        dying.rollback()

    with engine.connect() as connection:
        left = sa.select(clients.c.lockout_until).where(clients.c.uuid == ill[0])
        assert connection.execute(left).scalar_one() is None
        assert connection.execute(sa.select(sa.func.count()).select_from(client_recovery)).scalar_one() == 0
    assert actions(engine) == []
