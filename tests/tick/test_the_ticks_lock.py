"""The transaction that holds the tick's lock: it lasts during a long step, and its loss is noticed."""

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from deploy.parts.probes import free_port
from functions.scheduler_tick import steps
from functions.scheduler_tick.frame import Did, Moment, World
from functions.scheduler_tick.steps import TICK_LOCK
from shared import config
from shared.commands import operations as commands
from shared.conversions.rules import timeouts
from shared.outside.mqtt import Publisher
from shared.outside.task_queue import TaskQueue
from shared.overview.rules import TICK
from shared.postgres.door import engine_for, transaction
from tests.tick.world import last_tick, set_last_tick

HOLDERS = "FROM pg_locks WHERE locktype = 'advisory' AND objid = :lock AND granted"


@pytest.fixture
def world(engine: Engine, tick_engine: Engine) -> World:
    """The services of a tick without broker and queue."""
    set_last_tick(engine, None)
    nowhere = f"127.0.0.1:{free_port()}"
    settings = config.load({"MQTT_URL": f"mqtt://{nowhere}", "MQTT_USERNAME": "scheduler", "MQTT_PASSWORD": "x"})
    dispatch = timeouts(TICK).dispatch
    queue = TaskQueue(f"grpc://{nowhere}/projects/p/locations/l", "http://x", "x@y.test", dispatch)
    return World(settings, tick_engine, Publisher.from_config(settings), queue, commands.timings(settings))


def sleeps(world: World, _moment: Moment) -> Did:
    with transaction(world.engine) as connection:
        connection.execute(sa.text("SELECT pg_sleep(4)"))
    return {"slept": True}


def loses_the_lock(world: World, _moment: Moment) -> Did:
    with transaction(world.engine) as connection:
        connection.execute(sa.text(f"SELECT pg_terminate_backend(pid) {HOLDERS}"), {"lock": TICK_LOCK})
    return {}


def test_a_step_may_take_longer_than_other_transactions_may_be_idle(
    world: World, database_url: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried = engine_for(database_url, "hurried", 2)
    idle = "SET idle_in_transaction_session_timeout = '2s'"
    sa.event.listen(hurried, "begin", lambda connection: connection.exec_driver_sql(idle))
    monkeypatch.setattr(steps, "STEPS", {"first": sleeps, "second": sleeps})

    report = steps.run(replace(world, engine=hurried))
    hurried.dispose()

    assert (report["did"], report["failed"]) == ({"first": {"slept": True}, "second": {"slept": True}}, [])
    assert last_tick(engine)["did"]["second"] == {"slept": True}


def test_a_tick_that_has_lost_its_lock_does_no_further_step(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    did: list[str] = []

    def later(_world: World, _moment: Moment) -> Did:
        did.append("later")
        return {}

    monkeypatch.setattr(steps, "STEPS", {"first": loses_the_lock, "second": later})

    with pytest.raises(SQLAlchemyError):
        steps.run(world)

    assert did == []
    monkeypatch.setattr(steps, "STEPS", {"second": later})
    assert steps.run(world)["failed"] == []  # the lock is free again
    assert did == ["later"]
