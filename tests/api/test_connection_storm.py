"""A hundred instances of the api connect to one Postgres at once, each with the pool of docs/deploying.md.

This Postgres accepts 200 connections, the cloud's default. An instance is a pool here. tests/deploy checks that all
components together stay within the limit.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from werkzeug.test import TestResponse

from bridge.leader import DatabaseAway, Leader
from deploy.local import postgres
from deploy.parts.probes import wait_until
from functions.api.app import create_app
from functions.api.services import Services
from shared.config import BY_NAME, Config
from shared.postgres.door import engine_for, is_away, sqlstate, transaction
from tests.api.people import Api
from tests.conftest import at_any_speed
from tests.deploy.connections import defaults, documented, most_of
from tests.deploy.terraform import COMPONENTS

SIZES: Final = documented()
POOL: Final = BY_NAME["DATABASE_POOL_SIZE"].default
FULL_SECONDS: Final = 240.0  # for all to connect on a busy machine
WAITING_IN_THE_POOL_SECONDS: Final = 0.2  # instead of five seconds, for the request that waits in vain


class Crowd:
    """Requests that hold a connection each, until the test releases them all."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self.may_go = threading.Event()
        self.ends: list[Future[None]] = []
        self._threads = threads
        self._inside = threading.Semaphore(0)
        self._expected = 0

    def come(self, engine: Engine, number: int) -> None:
        """Send `number` requests to one instance at once."""
        self.ends += [self._threads.submit(self._hold, engine) for _ in range(number)]

    def are_inside(self, number: int) -> None:
        """Wait until `number` more requests hold a connection. Raises the error of a request that got none."""
        for _ in range(number):
            wait_until(lambda: self._inside.acquire(blocking=False) or self._kept_out(), FULL_SECONDS)

    def go(self) -> None:
        """Release all requests. Raises the error of any of them."""
        self.may_go.set()
        for end in self.ends:
            end.result(FULL_SECONDS)

    def _kept_out(self) -> bool:
        for end in self.ends:
            if end.done():
                end.result()
        return False

    def _hold(self, engine: Engine) -> None:
        with transaction(engine) as connection:
            connection.execute(sa.text("SELECT 1"))
            self._inside.release()
            assert self.may_go.wait(FULL_SECONDS)


@contextmanager
def limited(server: postgres.Cluster, database: str | None, most: int) -> Iterator[None]:
    """Limit the connections of a database; it then refuses like a full server (53300)."""
    with postgres.superuser(server) as superuser:
        superuser.run(f"ALTER DATABASE {database} CONNECTION LIMIT {most}")
        try:
            yield
        finally:
            superuser.run(f"ALTER DATABASE {database} CONNECTION LIMIT -1")


@contextmanager
def crowd() -> Iterator[Crowd]:
    with ThreadPoolExecutor(1000) as threads:
        made = Crowd(threads)
        try:
            yield made
        finally:
            made.may_go.set()


def pool_of(component: str) -> int:
    """How many connections one instance may open."""
    return SIZES.api_database_pool_size if component == "api" else POOL


@pytest.fixture
def instances(database_url: str) -> Iterator[dict[str, list[Engine]]]:
    """Component -> the pools of all its possible instances."""
    with at_any_speed():
        made = {
            name: [engine_for(database_url, f"storm {name}", pool_of(name)) for _ in range(most_of(name, SIZES))]
            for name in COMPONENTS
        }
    yield made
    for engines in made.values():
        for engine in engines:
            engine.dispose()


def sessions(engine: Engine, of: str = "storm %") -> int:
    """How many connections with these application names the database has."""
    with engine.connect() as connection:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE :of"
        return int(connection.execute(sa.text(asked), {"of": of}).scalar_one())


def assert_told_to_come_back(answer: TestResponse) -> None:
    """Check for a 503 with a problem document and Retry-After."""
    assert answer.status_code == 503
    assert answer.json is not None
    assert answer.json["code"] == "database_unavailable"
    assert answer.json["detail"].startswith("The database does not answer at the moment")
    assert "too many" not in answer.text
    assert int(answer.headers["Retry-After"]) > 0


def test_a_hundred_instances_at_once_are_all_let_in_and_bridge_and_tick_beside_them(
    engine: Engine, instances: dict[str, list[Engine]], configuration: Config, api: Api
) -> None:
    functions = [(one, pool_of(name)) for name in ("api", "convert_worker") for one in instances[name]]
    first, waiting = instances["api"][0], instances["api"][1:]
    app = create_app(Services(configuration, first))
    told = {"Authorization": f"Bearer {api.tokens['viewer']}"}

    with crowd() as requests:
        for one, size in functions:
            requests.come(one, size)
        requests.are_inside(sum(size for _, size in functions))

        leads = [Leader(one, f"bridge {number}").try_lead() for number, one in enumerate(instances["bridge"])]
        for one in instances["scheduler_tick"]:
            requests.come(one, POOL)
        requests.are_inside(POOL * len(instances["scheduler_tick"]))
        most = sessions(engine)
        first.pool._timeout = WAITING_IN_THE_POOL_SECONDS  # type: ignore[attr-defined]
        in_vain = app.test_client().get("/api/clients", headers=told)
        for one in waiting:
            requests.come(one, 1)  # all connections of its instance are in use, so it waits
        requests.go()

    with engine.connect() as connection:
        takes = int(connection.execute(sa.text("SHOW max_connections")).scalar_one())
    assert takes == defaults().database_max_connections
    assert len(instances["api"]) == 100
    assert leads == [True, False]
    assert most == sum(size for _, size in functions) + POOL * len(instances["scheduler_tick"]) + len(leads)
    assert_told_to_come_back(in_vain)
    assert app.test_client().get("/api/clients", headers=told).status_code == 200


def test_where_postgres_lets_nobody_in_callers_are_told_and_all_is_well_afterwards(
    postgres_server: postgres.Cluster, database_url: str, engine: Engine, configuration: Config, api: Api
) -> None:
    """There are more instances than the limit allows for."""
    late = [engine_for(database_url, "storm late", 1) for _ in range(2)]
    app, leader = create_app(Services(configuration, late[0])), Leader(late[1], "late")
    told = {"Authorization": f"Bearer {api.tokens['viewer']}"}

    with limited(postgres_server, engine.url.database, 0):
        refused = app.test_client().get("/api/clients", headers=told)
        with pytest.raises(DatabaseAway) as away:
            leader.try_lead()

    assert_told_to_come_back(refused)
    assert away.value.__cause__ is not None
    assert is_away(away.value.__cause__)
    assert app.test_client().get("/api/clients", headers=told).status_code == 200
    assert leader.try_lead()
    leader.resign()
    for one in late:
        one.dispose()


def test_the_crowd_notices_who_is_kept_out(postgres_server: postgres.Cluster, database_url: str) -> None:
    """Five instances with five connections each, where there is room for twenty."""
    pools = [engine_for(database_url, "storm many", POOL) for _ in range(5)]
    full = limited(postgres_server, pools[0].url.database, sessions(pools[0], "%") + 19)

    with full, crowd() as requests:
        for one in pools:
            requests.come(one, POOL)
        with pytest.raises(DBAPIError) as kept_out:
            requests.are_inside(POOL * len(pools))

    assert sqlstate(kept_out.value) == "53300"
    for one in pools:
        one.dispose()
