"""The task queue for tests of the local stack: a real process with its own database."""

import secrets
from collections.abc import Iterator

import pytest
from google.cloud.tasks_v2 import CloudTasksClient

from deploy.local.postgres import DATABASE, OWNER, Cluster, superuser
from deploy.parts import probes
from shared.outside.task_queue import QUEUE_ID
from tests import migrated
from tests.local.queue_harness import LOCATION, WITH_MORE_QUEUES, Emulator, Worker, emulator, worker
from tests.local.queue_program import QUEUES


def made(cluster: Cluster, name: str) -> str:
    """Create a migrated database, where the queue's role has a schema, and return its owner's address."""
    with superuser(cluster) as connection:
        connection.run(f"CREATE DATABASE {name} TEMPLATE {DATABASE} OWNER {OWNER}")
    return cluster.url(name, OWNER, migrated.OWNERS_PASSWORD)


@pytest.fixture(scope="package", autouse=True)
def patient_probes() -> Iterator[None]:
    """The tests' probes wait for an answer as long as it takes on a busy machine; the product's wait for a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probes, "TIMEOUT_SECONDS", 60.0)
        yield


@pytest.fixture
def empty_database(postgres_server: Cluster) -> Iterator[str]:
    """A database for this test alone: only one emulator may deliver from a database."""
    name = f"queue_{secrets.token_hex(6)}"
    yield made(postgres_server, name)
    with superuser(postgres_server) as connection:
        connection.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="package")
def kept_emulator(postgres_server: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """An emulator for the whole suite, because its start takes longer than most of its tests."""
    database, state = made(postgres_server, "queue_kept"), tmp_path_factory.mktemp("state")
    with emulator(database, state, program=WITH_MORE_QUEUES) as running:
        yield running


@pytest.fixture
def queue_service(kept_emulator: Emulator) -> Iterator[Emulator]:
    """The suite's emulator; its queues are emptied after each test."""
    yield kept_emulator
    kept_emulator.clear(*(f"{LOCATION}/queues/{queue_id}" for queue_id in (QUEUE_ID, *QUEUES)))


@pytest.fixture
def client(queue_service: Emulator) -> CloudTasksClient:
    """The google-cloud-tasks client, connected to the emulator."""
    return queue_service.client


@pytest.fixture
def queue(queue_service: Emulator) -> str:
    """A queue that delivers nothing, so that its tasks do not change."""
    return f"{LOCATION}/queues/held"


@pytest.fixture
def running(queue_service: Emulator) -> str:
    """A queue with back-offs of milliseconds."""
    return f"{LOCATION}/queues/quick"


@pytest.fixture
def target() -> Iterator[Worker]:
    """A worker that gets the tasks."""
    with worker() as serving:
        yield serving
