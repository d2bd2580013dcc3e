"""A replica that is away, hangs, is another database or gives a query up costs nobody an answer."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import ProgrammingError

from deploy.local.probes import free_port, wait_until
from functions.api import replica
from functions.api.app import create_app
from functions.api.readiness import Readiness
from functions.api.services import Services
from shared import db
from shared.config import Config
from tests.api import replica_world
from tests.api.people import Api
from tests.api.replica_world import LONG, events_of, exchange, look, rename, told_of_the_replica, what_is_asked
from tests.standby import Standby
from tests.stores.commands_world import new_client


@pytest.fixture
def services(replicated: Services) -> Services:
    return replicated


@pytest.fixture
def api(with_replica: Api) -> Api:
    return with_replica


@pytest.mark.parametrize("is_connected", [True, False])
def test_a_replica_that_hangs_costs_one_request_a_little_and_the_next_ones_nothing(
    services: Services, api: Api, engine: Engine, standby: Standby, monkeypatch: pytest.MonkeyPatch, is_connected: bool
) -> None:
    uuid = new_client(engine)
    monkeypatch.setattr(db, "REPLICA_TIMEOUT_SECONDS", 0.3)

    with told_of_the_replica() as told:
        if is_connected:
            look(services)
        with standby.frozen():
            rename(api, uuid)
            assert events_of(api, uuid) == ["audit", "registered"]
            with what_is_asked(services) as asked:
                assert [events_of(api, uuid) for _ in range(10)] == [["audit", "registered"]] * 10

        assert not asked.replica
        assert told[-1] == "replica_away"
        wait_until(lambda: look(services) == replica.USABLE, LONG)
    assert told[-1] == "replica_back"


def nobody(_config: Config) -> str:
    return f"postgresql://signage:owner@127.0.0.1:{free_port()}/signage"


WRONG: Final[dict[str, Callable[[Config], str]]] = {
    "nobody is there": nobody,
    "another password": lambda config: str(config["DATABASE_READ_URL"]).replace(":owner@", ":other@"),
    "no such database": lambda config: str(config["DATABASE_READ_URL"]) + "_none",
    "another database": lambda config: str(config["DATABASE_READ_URL"]).rpartition("/")[0] + "/postgres",
    "the primary": lambda config: str(config["DATABASE_URL"]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_where_no_standby_of_ours_answers_the_primary_does(
    services: Services, api: Api, engine: Engine, wrong: str
) -> None:
    uuid = new_client(engine)
    exchange(services, WRONG[wrong](services.config))

    with told_of_the_replica() as told:
        assert [events_of(api, uuid) for _ in range(5)] == [["registered"]] * 5
    is_somebody = wrong in {"another database", "the primary"}

    assert told == ["replica_away"]
    assert look(services) == (replica.WHY[replica.Foreign] if is_somebody else replica.AWAY)


def test_what_has_another_history_is_not_ours(services: Services) -> None:
    """Another cluster, or this one on a timeline that a promotion began."""
    with db.reading(services.engine) as primary:
        here = replica.place_of(primary)
    cluster, timeline, name = here.line.split("/")

    for line in (f"1{cluster}/{timeline}/{name}", f"{cluster}/00000002/{name}", f"{cluster}/{timeline}/other"):
        with pytest.raises(replica.Foreign), services.replica.reading(replace(here, line=line)):
            pass
    with services.replica.reading(here):
        pass


def test_a_query_that_gives_way_to_what_happens_on_the_primary_is_answered_by_that(
    services: Services, api: Api, engine: Engine
) -> None:
    """The standby's 40001: the log's oldest week is dropped while somebody reads it."""
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE pruned AS SELECT 1 AS row"))
    replica_world.asked.clear()
    statuses: list[int] = []
    reading = threading.Thread(target=lambda: statuses.append(api.get("/past/pruned").status_code))

    with told_of_the_replica() as told:
        reading.start()
        wait_until(lambda: bool(replica_world.asked), LONG)
        with engine.begin() as connection:
            connection.execute(sa.text("TRUNCATE pruned"))
        reading.join(LONG)

    assert statuses == [200]
    assert replica_world.asked == ["replica", "primary"]
    assert told == ["replica_away"]


def test_an_answer_may_take_longer_than_a_sign_of_life(
    services: Services, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "REPLICA_TIMEOUT_SECONDS", replica_world.SLOW_SECONDS / 2)

    def is_answered_by_the_replica() -> bool:
        look(services)
        with what_is_asked(services) as asked:
            assert api.get("/past/slow").status_code == 200
        return asked.sides("pg_sleep") == {"replica"}

    wait_until(is_answered_by_the_replica, LONG)  # a busy machine may be late with the sign of life


def test_a_replica_whose_connections_are_all_in_use_is_left_in_peace(
    services: Services, api: Api, engine: Engine
) -> None:
    uuid, there = new_client(engine), services.replica.engine
    held = [there.connect() for _ in range(services.config["DATABASE_POOL_SIZE"])]
    there.pool._timeout = 0.1  # type: ignore[attr-defined]  # only on the base class

    with told_of_the_replica() as told, what_is_asked(services) as asked:
        assert events_of(api, uuid) == ["registered"]
    for connection in held:
        connection.close()

    assert asked.sides("audit_log") == {"primary"}
    assert told == []


def test_sessions_that_the_replica_has_ended_are_replaced(
    services: Services, api: Api, engine: Engine, standby: Standby
) -> None:
    uuid = new_client(engine)
    events_of(api, uuid)
    standby.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'api'")

    with told_of_the_replica() as told, what_is_asked(services) as asked:
        assert events_of(api, uuid) == ["registered"]

    assert asked.sides("audit_log") == {"replica"}
    assert told == []


def test_one_that_is_tried_again_is_used_again_though_what_was_asked_for_is_not_there(
    services: Services, api: Api, engine: Engine
) -> None:
    """Not found is an answer."""
    uuid, nobody_there = new_client(engine), "00000000-0000-4000-8000-00000000dead"
    services.replica._why = replica.AWAY

    with what_is_asked(services) as first:
        assert api.get(f"/api/clients/{nobody_there}/events").status_code == 404
    with what_is_asked(services) as second:
        assert events_of(api, uuid) == ["registered"]

    assert first.replica
    assert second.sides("audit_log") == {"replica"}


def names(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.execute(sa.text("SELECT name FROM clients")).scalars())


def test_a_read_that_writes_is_a_mistake_that_the_primary_does_not_repeat(api: Api, engine: Engine) -> None:
    new_client(engine)

    assert api.get("/past/mistaken").status_code == 500
    assert "written by a read" not in names(engine)


def test_the_probe_says_where_history_is_read_and_counts_it_for_nothing(services: Services, api: Api) -> None:
    shown = {}
    for there in (services.config["DATABASE_READ_URL"], nobody(services.config)):
        services._built["readiness"] = Readiness(services)
        exchange(services, there)
        checks = api.get("/api/health/ready", None).get_json()["checks"]
        shown[checks["read_replica"]["why"]] = checks["read_replica"]["ok"]

    assert shown == {replica.USABLE: True, replica.AWAY: True}


def test_the_figures_tell_a_replica_that_is_read_from_one_that_is_away_and_from_none(
    services: Services, api: Api, engine: Engine
) -> None:
    def figures(one: Api) -> tuple[str, str]:
        assert one.get("/api/recovery/events").status_code == 200
        text = one.get("/api/metrics").get_data(as_text=True)
        found = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("signage_replica"))
        return found["signage_replica_configured"], found["signage_replica_in_use"]

    read = figures(api)
    exchange(services, nobody(services.config))
    away = figures(api)
    without = Services(Config({**services.config.values, "DATABASE_READ_URL": ""}), engine)

    assert (read, away) == (("1.0", "1.0"), ("1.0", "0.0"))
    assert figures(Api(create_app(without), engine)) == ("0.0", "0.0")
    assert "replica" not in without._built


def test_what_is_no_standby_is_not_written_either(services: Services) -> None:
    """As one that became a primary."""
    exchange(services, services.config["DATABASE_URL"])

    assert look(services) == replica.WHY[replica.Foreign]
    with services.replica.engine.connect() as connection, pytest.raises(ProgrammingError, match=replica.READ_ONLY):
        connection.execute(sa.text("UPDATE clients SET name = 'split'"))
