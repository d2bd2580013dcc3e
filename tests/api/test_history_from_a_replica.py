"""History is read from a real standby while it has all that the primary has, and from the primary whenever not."""

import re
from typing import Any, Final

import pytest
from sqlalchemy import Engine

from functions.api import replica
from functions.api.app import create_app
from functions.api.routes import ALL
from functions.api.services import Services
from shared.config import Config
from tests.api.people import Api
from tests.api.replica_world import (
    CONNECTION,
    LONG,
    events_of,
    is_no_longer_spared,
    look,
    new_incident,
    rename,
    told_of_the_replica,
    what_is_asked,
)
from tests.standby import Standby
from tests.stores.commands_world import new_client

HISTORY: Final = {  # written down a second time on purpose
    "/api/audit",
    "/api/client-logs/<uuid:uuid>/logs",
    "/api/client-logs/recent-errors",
    "/api/client-logs/summary",
    "/api/clients/<uuid:uuid>/events",
    "/api/clients/<uuid:uuid>/health/history",
    "/api/clients/<uuid:uuid>/uptime",
    "/api/dead-letters",
    "/api/incidents/<id:incident_id>/events",
    "/api/recovery/events",
}
OTHER_READS: Final = [endpoint.path for routes in ALL for endpoint in routes.endpoints if endpoint.method == "GET"]


@pytest.fixture
def services(replicated: Services) -> Services:
    return replicated


@pytest.fixture
def api(with_replica: Api) -> Api:
    return with_replica


def test_what_is_history_is_written_down_twice() -> None:
    declared = {endpoint.path: endpoint for routes in ALL for endpoint in routes.endpoints if endpoint.history}

    assert set(declared) == HISTORY
    assert {endpoint.method for endpoint in declared.values()} == {"GET"}
    assert all(endpoint.role for endpoint in declared.values())


def test_history_is_read_from_the_replica_and_callers_are_recognised_by_the_primary(
    api: Api, engine: Engine, services: Services
) -> None:
    uuid, incident = new_client(engine), new_incident(engine)

    for path in sorted(HISTORY):
        filled = path.replace("<uuid:uuid>", uuid).replace("<id:incident_id>", str(incident))
        with what_is_asked(services) as asked:
            assert api.get(filled, "admin").status_code == 200, path

        assert asked.sides("api_tokens") == {"primary"}, path
        assert asked.sides("pg_current_wal_flush_lsn") == {"primary"}, path
        assert asked.of("primary", "api_tokens", "pg_current_wal_flush_lsn") == [], path
        assert asked.of("replica", CONNECTION, "pg_last_wal_replay_lsn"), path
        assert services.engine.pool.checkedout() == 0  # type: ignore[attr-defined]  # only on the base class
        assert services.replica.engine.pool.checkedout() == 0  # type: ignore[attr-defined]


def test_nothing_else_is(api: Api, engine: Engine, services: Services) -> None:
    uuid = new_client(engine)
    others = [path for path in OTHER_READS if path not in HISTORY and path != "/api/health/ready"]

    with what_is_asked(services) as asked:
        for path in others:
            api.get(re.sub(r"<id:[^>]+>", "1", re.sub(r"<(uuid:)?[^:>]+>", uuid, path)), "admin")
        rename(api, uuid, "Lobby")
        assert api.get("/api/clients/no-such/events").status_code == 404

    assert len(others) > 30
    assert not asked.replica


def test_without_the_setting_there_is_none(configuration: Config, engine: Engine) -> None:
    alone = Services(configuration, engine)

    assert Api(create_app(alone), engine).get("/api/recovery/events").status_code == 200
    assert set(alone._built) == {"engine"}


def test_what_one_has_just_done_is_in_the_history_that_one_reads_next(
    api: Api, engine: Engine, services: Services
) -> None:
    uuid = new_client(engine)

    for number in range(1, 21):
        rename(api, uuid, f"Lobby {number}")
        with what_is_asked(services) as asked:
            assert events_of(api, uuid) == ["audit"] * number + ["registered"]
        assert asked.sides("audit_log") == {"replica"}


@pytest.mark.parametrize("way", ["replaying_nothing", "cut_off"])
def test_a_replica_that_lacks_something_is_not_believed_and_then_spared(
    api: Api, engine: Engine, services: Services, standby: Standby, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """One that is cut off has replayed all that it received."""
    uuid = new_client(engine)
    events_of(api, uuid)
    monkeypatch.setattr(replica, "CATCH_UP_SECONDS", 0.02)
    silent = getattr(standby, way)()

    with told_of_the_replica() as told:
        with silent:
            rename(api, uuid)
            assert events_of(api, uuid) == ["audit", "registered"]
            with what_is_asked(services) as asked:
                assert [events_of(api, uuid) for _ in range(5)] == [["audit", "registered"]] * 5
            assert not asked.replica
            is_no_longer_spared(services)
            assert events_of(api, uuid) == ["audit", "registered"]
        monkeypatch.setattr(replica, "CATCH_UP_SECONDS", LONG)
        is_no_longer_spared(services)
        with what_is_asked(services) as asked:
            events_of(api, uuid)

    assert asked.sides("audit_log") == {"replica"}
    assert told == ["replica_away", "replica_back"]


def test_a_list_goes_on_where_it_was_on_whichever_side(
    api: Api, engine: Engine, services: Services, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid, path = new_client(engine), "/api/audit"
    got: list[Any] = []
    sides: list[str] = []
    for number in range(7):
        rename(api, uuid, f"Lobby {number}")
    whole = api.get(f"{path}?target={uuid}", "admin").get_json()["items"]
    cursor: str | None = ""

    with standby.replaying_nothing():
        rename(api, new_client(engine), "another")
        while cursor is not None:
            is_behind = len(sides) % 2 == 1
            monkeypatch.setattr(replica, "_wait_for", behind if is_behind else at_once)
            is_no_longer_spared(services)
            with what_is_asked(services) as asked:
                page = api.get(f"{path}?target={uuid}&limit=2" + (f"&cursor={cursor}" if cursor else ""), "admin")
            sides += asked.sides("FROM audit_log")
            got += page.get_json()["items"]
            cursor = page.get_json()["next_cursor"]

    assert sides == ["replica", "primary", "replica", "primary"]
    assert got == whole
    assert len(whole) == 7


def test_of_one_that_comes_and_goes_the_log_tells_once_a_minute(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "TOLD_EVERY_SECONDS", LONG)
    with told_of_the_replica() as told:
        for _ in range(3):
            monkeypatch.setattr(replica, "_wait_for", behind)
            assert look(services) == replica.WHY[replica.Behind]
            monkeypatch.setattr(replica, "_wait_for", at_once)
            assert look(services) == replica.USABLE

    assert told == ["replica_away", "replica_back"]


def at_once(*_asked: object) -> None:
    """It has all."""


def behind(*_asked: object) -> None:
    raise replica.Behind
