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
from functions.api.services import Services
from shared import db
from shared.config import Config
from tests.api import replica_world
from tests.api.people import Api
from tests.api.replica_world import LONG, caller, events_of, look, rename, told_of_the_replica, what_is_asked
from tests.standby import Standby
from tests.stores.commands_world import new_client

pytestmark = pytest.mark.usefixtures("unhurried")


@pytest.fixture
def services(processes: Callable[[Config], Services], with_replica: Config) -> Services:
    """Those of a process of its own."""
    return processes(with_replica)


@pytest.fixture
def api(services: Services, engine: Engine) -> Api:
    """Asks that process."""
    return caller(services, engine)


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


def nobody_there(config: Config) -> str:
    return f"postgresql://signage:owner@127.0.0.1:{free_port()}/signage"


WRONG: Final[dict[str, Callable[[Config], str]]] = {
    "nobody is there": nobody_there,
    "another password": lambda config: str(config["DATABASE_READ_URL"]).replace(":owner@", ":other@"),
    "no such database": lambda config: str(config["DATABASE_READ_URL"]) + "_none",
    "another database": lambda config: str(config["DATABASE_READ_URL"]).rpartition("/")[0] + "/postgres",
    "the primary": lambda config: str(config["DATABASE_URL"]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_where_no_standby_of_ours_answers_the_primary_does(
    with_replica: Config, processes: Callable[[Config], Services], engine: Engine, wrong: str
) -> None:
    services = processes(Config({**with_replica.values, "DATABASE_READ_URL": WRONG[wrong](with_replica)}))
    api, uuid = caller(services, engine), new_client(engine)

    with told_of_the_replica() as told:
        assert [events_of(api, uuid) for _ in range(5)] == [["registered"]] * 5
    ready = api.get("/api/health/ready", None).get_json()["checks"]["read_replica"]

    assert told == ["replica_away"]
    assert ready["ok"] is True
    assert ready["why"] in {replica.AWAY, replica.WHY[replica.Foreign]}
    assert (ready["why"] == replica.AWAY) == (wrong not in {"another database", "the primary"})


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
    with what_is_asked(services) as asked:
        look(services)
        monkeypatch.setattr(db, "REPLICA_TIMEOUT_SECONDS", replica_world.SLOW_SECONDS / 2)
        look(services)  # what it leaves behind holds for the connection
        assert api.get("/past/slow").status_code == 200

    assert asked.sides("pg_sleep") == {"replica"}


def test_a_replica_whose_connections_are_all_in_use_is_left_in_peace(
    services: Services, api: Api, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = new_client(engine)
    monkeypatch.setattr(db, "REPLICA_TIMEOUT_SECONDS", 0.1)
    held = [services.replica.engine.connect() for _ in range(services.config["DATABASE_POOL_SIZE"])]

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


def names(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.execute(sa.text("SELECT name FROM clients")).scalars())


def test_a_read_that_writes_is_a_mistake_that_the_primary_does_not_repeat(api: Api, engine: Engine) -> None:
    new_client(engine)

    assert api.get("/past/mistaken").status_code == 500
    assert "written by a read" not in names(engine)


def test_the_probe_says_whether_history_is_read_there(services: Services, api: Api) -> None:
    shown = api.get("/api/health/ready", None).get_json()["checks"]["read_replica"]

    assert shown == {"ok": True, "why": replica.USABLE}


def test_a_standby_that_became_a_primary_is_neither_read_nor_written(
    services: Services, api: Api, engine: Engine, standby: Standby
) -> None:
    """The last one of this file: the standby does not come back."""
    uuid = new_client(engine)
    standby.promote()

    rename(api, uuid, "Lobby")
    assert events_of(api, uuid) == ["audit", "registered"]
    assert look(services) == replica.WHY[replica.Foreign]
    assert standby.run("SELECT pg_is_in_recovery()") == [[False]]
    with services.replica.engine.connect() as connection, pytest.raises(ProgrammingError, match="25006"):
        connection.execute(sa.text("UPDATE clients SET name = 'split'"))
