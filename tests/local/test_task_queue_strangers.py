"""What the local task queue refuses to strangers who reach its port, and to our own services."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.api_core import exceptions
from google.cloud.tasks_v2 import CloudTasksClient
from google.cloud.tasks_v2.services.cloud_tasks.transports import CloudTasksGrpcTransport
from google.cloud.tasks_v2.types import HttpRequest, OidcToken, Task

from deploy.parts.task_queue.__main__ import Settings
from shared.errors import ConfigurationError, TaskQueueUnavailable
from shared.outside.task_queue import TaskQueue, enqueue_conversion, queue_is_reachable
from tests.local.queue_harness import ACCOUNT, LOCATION, QUEUE_SECRET, Emulator, emulator, wait_until
from tests.local.test_task_queue import DEADLINE

WORKER = "http://127.0.0.1:1/worker"  # nothing listens there, and nothing has to
TICK = "http://127.0.0.1:1/tick"
QUEUE = f"{LOCATION}/queues/conversions"


@pytest.fixture(scope="module")
def strict(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """Run the queue as it is shipped: it delivers to two functions."""
    with emulator(database_url, tmp_path_factory.mktemp("strict"), targets=f"{WORKER},{TICK}") as running:
        yield running


@pytest.mark.parametrize(
    "metadata",
    [
        (),
        (("authorization", "Bearer "),),
        (("authorization", f"Bearer {QUEUE_SECRET[:-1]}"),),
        (("authorization", QUEUE_SECRET),),
        (("authorization", f"Bearer {QUEUE_SECRET}"), ("authorization", "Bearer x")),
    ],
    ids=["nothing", "an empty secret", "most of it", "without its scheme", "two of them"],
)
def test_who_does_not_know_the_secret_is_served_nothing(
    strict: Emulator, metadata: tuple[tuple[str, str], ...]
) -> None:
    task = Task(http_request=HttpRequest(url=WORKER))
    with grpc.insecure_channel(f"127.0.0.1:{strict.port}") as channel:
        stranger = CloudTasksClient(transport=CloudTasksGrpcTransport(channel=channel))
        calls = (
            lambda: stranger.get_queue(name=QUEUE, metadata=metadata),
            lambda: stranger.purge_queue(name=QUEUE, metadata=metadata),
            lambda: stranger.create_task(parent=QUEUE, task=task, metadata=metadata),
        )
        for call in calls:
            with pytest.raises(exceptions.Unauthenticated):
                call()

    assert strict.names(QUEUE) == []


def test_a_service_with_another_secret_is_told_that_the_queue_is_away(strict: Emulator) -> None:
    ours = TaskQueue(strict.queue_url, WORKER, ACCOUNT, DEADLINE, secret=QUEUE_SECRET)
    other = TaskQueue(strict.queue_url, WORKER, ACCOUNT, DEADLINE, secret=QUEUE_SECRET[::-1])

    wait_until(lambda: queue_is_reachable(ours), "an answer to us")
    assert not queue_is_reachable(other)
    with pytest.raises(TaskQueueUnavailable):
        enqueue_conversion(other, 1, 1)


REFUSED = {
    "another address": HttpRequest(url="http://127.0.0.1:2/worker"),
    "an address that begins alike": HttpRequest(url=f"{WORKER}.evil.test/"),
    "an address with a login before it": HttpRequest(url="http://127.0.0.1:1@evil.test/worker"),
    "a token for somebody else": HttpRequest(
        url=WORKER, oidc_token=OidcToken(service_account_email=ACCOUNT, audience="https://elsewhere.test")
    ),
    "a token for the other function": HttpRequest(
        url=WORKER, oidc_token=OidcToken(service_account_email=ACCOUNT, audience=TICK)
    ),
    "a token for nobody in particular": HttpRequest(url=WORKER, oidc_token=OidcToken(service_account_email=ACCOUNT)),
}


@pytest.mark.parametrize("request_", REFUSED.values(), ids=REFUSED.keys())
def test_a_task_that_leads_elsewhere_is_refused(strict: Emulator, request_: HttpRequest) -> None:
    with pytest.raises((exceptions.PermissionDenied, exceptions.InvalidArgument)):
        strict.client.create_task(parent=QUEUE, task=Task(http_request=request_))

    assert strict.names(QUEUE) == []


@pytest.mark.parametrize("function", [WORKER, TICK])
def test_a_task_of_ours_is_taken(strict: Emulator, function: str) -> None:
    token = OidcToken(service_account_email=ACCOUNT, audience=function)
    request = HttpRequest(url=f"{function}/deliveries", oidc_token=token)

    made = strict.client.create_task(parent=QUEUE, task=Task(http_request=request))

    assert strict.row(made)["gone_at"] is None
    strict.clear(QUEUE)


def test_a_queue_without_a_secret_does_not_start(
    strict: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"DATABASE_URL": strict.database_url, "QUEUE_URL": strict.queue_url, "TASKS_SERVICE_ACCOUNT": ACCOUNT}
    for name, value in {**told, "LOCAL_STATE_DIR": str(tmp_path), "QUEUE_SECRET": QUEUE_SECRET}.items():
        monkeypatch.setenv(name, value)
    assert Settings.read().secret == QUEUE_SECRET

    monkeypatch.setenv("QUEUE_SECRET", "")

    with pytest.raises(ConfigurationError, match="QUEUE_SECRET is not set"):
        Settings.read()
