"""The task queue for the tests of the local stack: a real emulator process on a database of its own."""

import secrets
from collections.abc import Iterator
from contextlib import suppress

import pytest
from google.api_core.exceptions import NotFound
from google.cloud.tasks_v2 import CloudTasksClient
from sqlalchemy import Engine

from deploy.local.postgres import DATABASE, OWNER, Cluster, superuser
from shared.postgres.door import engine_for
from tests import migrated
from tests.local.queue_harness import Emulator, Worker, emulator, worker


def made(cluster: Cluster, name: str) -> str:
    """The owner's address of a migrated database: the queue's role has a schema there."""
    with superuser(cluster) as connection:
        connection.run(f"CREATE DATABASE {name} TEMPLATE {DATABASE} OWNER {OWNER}")
    return cluster.url(name, OWNER, migrated.OWNERS_PASSWORD)


@pytest.fixture
def empty_database(postgres_server: Cluster) -> Iterator[str]:
    """A database of this test's own: one emulator delivers from each."""
    name = f"queue_{secrets.token_hex(6)}"
    yield made(postgres_server, name)
    with superuser(postgres_server) as connection:
        connection.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="package")
def kept_emulator(postgres_server: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """An emulator that serves for the whole suite: each start of one takes more than most of its tests."""
    with emulator(made(postgres_server, "queue_kept"), tmp_path_factory.mktemp("state")) as running:
        yield running


@pytest.fixture
def queue_service(kept_emulator: Emulator) -> Iterator[Emulator]:
    """The suite's emulator. What a test left in queues that it made is not tried any more once it is over."""
    yield kept_emulator
    for name in kept_emulator.made:
        with suppress(NotFound):
            kept_emulator.client.pause_queue(name=name)
    kept_emulator.made.clear()


@pytest.fixture
def queue_engine(kept_emulator: Emulator) -> Iterator[Engine]:
    """For a look behind the emulator."""
    engine = engine_for(kept_emulator.database_url, "tests")
    yield engine
    engine.dispose()


@pytest.fixture
def client(queue_service: Emulator) -> CloudTasksClient:
    """The ordinary client, connected to it."""
    return queue_service.client


@pytest.fixture
def queue(queue_service: Emulator) -> str:
    """A paused queue of this test's own: what is in it stays as it was put there."""
    name = queue_service.create_queue(f"q-{secrets.token_hex(6)}")
    queue_service.client.pause_queue(name=name)
    return name


@pytest.fixture
def running(queue_service: Emulator) -> str:
    """A running queue of this test's own, with waits of milliseconds."""
    return queue_service.create_queue(f"r-{secrets.token_hex(6)}")


@pytest.fixture
def target() -> Iterator[Worker]:
    """A worker for tasks to call."""
    with worker() as serving:
        yield serving
