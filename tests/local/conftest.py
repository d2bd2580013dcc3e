"""The task queue for the tests of the local stack: a real emulator process on the module's database."""

import secrets
from collections.abc import Iterator

import pytest
from google.cloud.tasks_v2 import CloudTasksClient

from deploy.local.postgres import Cluster, superuser
from tests.local.queue_harness import Emulator, Worker, emulator, worker


@pytest.fixture
def empty_database(postgres_server: Cluster) -> Iterator[str]:
    """A database of this test's own: one emulator delivers from each."""
    name = f"queue_{secrets.token_hex(6)}"
    with superuser(postgres_server) as connection:
        connection.run(f"CREATE DATABASE {name}")
    yield postgres_server.url(name)
    with superuser(postgres_server) as connection:
        connection.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def queue_service(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """An emulator that serves for the whole module."""
    with emulator(database_url, tmp_path_factory.mktemp("state")) as running:
        yield running


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
