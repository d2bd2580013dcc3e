"""Real servers for the tests: one Postgres and one broker for each session, the same as in `make run`."""

import gc

gc.disable()  # of what is imported and collected hardly anything is garbage: looking for it is a third of the time

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Connection, Engine

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from shared.access.people import store as people_store
from shared.postgres import door
from shared.vocabulary import Role
from tests import migrated

TEMPLATE = postgres.DATABASE
# No time limit for examples (hypothesis would set 200 ms). One fixture may serve all examples.
AT_ANY_SPEED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("any machine", deadline=None, suppress_health_check=AT_ANY_SPEED)
settings.register_profile("quick", settings.get_profile("any machine"), max_examples=20)
settings.load_profile("any machine")
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Cluster]:
    """This session's Postgres; `.url(database)` is a superuser's address."""
    with migrated.running() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def migrated_template(postgres_server: postgres.Cluster) -> str:
    """The name of a migrated database to copy. Never connect to it."""
    return TEMPLATE


@pytest.fixture(scope="module")
def database_url(postgres_server: postgres.Cluster, migrated_template: str) -> Iterator[str]:
    """The owner's address of this module's own, freshly migrated database."""
    name = f"module_{next(_numbers)}"
    quickest = "STRATEGY FILE_COPY" if postgres_server.programs.major >= 15 else ""  # the only way in older versions
    with postgres.superuser(postgres_server) as connection:
        connection.run(f"CREATE DATABASE {name} TEMPLATE {migrated_template} OWNER {postgres.OWNER} {quickest}")
    yield postgres_server.url(name, postgres.OWNER, "owner")
    with postgres.superuser(postgres_server) as connection:
        connection.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def engine(database_url: str) -> Iterator[Engine]:
    """The product's engine on the module's database, as its owner."""
    with patient_engine(database_url) as made:
        yield made


@contextmanager
def patient_engine(database_url: str) -> Iterator[Engine]:
    """The product's engine on this database, with timeouts for slow machines."""
    with at_any_speed():
        made = door.engine_for(database_url, "tests", pool_size=20)
    yield made
    made.dispose()


@contextmanager
def at_any_speed() -> Iterator[None]:
    """Engines made in this block have ten times the product's timeouts."""
    with pytest.MonkeyPatch.context() as patch:
        for bound in ("STATEMENT_TIMEOUT_MS", "LOCK_TIMEOUT_MS", "SOCKET_TIMEOUT_SECONDS", "POOL_TIMEOUT_SECONDS"):
            patch.setattr(door, bound, 10 * getattr(door, bound))
        yield


@pytest.fixture(scope="module")
def makers(engine: Engine) -> None:
    """Admins, ada and anna, in whose names a module's tests plan what acts later."""
    with engine.begin() as connection:
        for name in ("ada", "anna"):
            assert people_store.insert_user(connection, datetime.fromtimestamp(0, UTC), name, "", Role.ADMIN, False)


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """A connection in a transaction that is rolled back after the test."""
    with engine.connect() as opened, opened.begin() as transaction:
        yield opened
        transaction.rollback()


@pytest.fixture(scope="session")
def broker() -> Iterator[mosquitto.RunningBroker]:
    """This session's mosquitto, with the shipped configuration."""
    with mosquitto.throw_away() as running:
        yield running


def pytest_collection_finish() -> None:
    """Exclude imported modules from garbage collection, which saves a tenth of the time."""
    gc.freeze()
    gc.enable()
