"""The product's client of the queue, against the real emulator."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import grpc
import pytest
from google.cloud.tasks_v2.types import Task

from deploy.parts.probes import free_port
from shared.errors import ConfigurationError, TaskQueueUnavailable
from shared.outside import task_queue
from shared.outside.oidc import KeySet, ServiceCaller
from shared.outside.task_queue import TaskQueue, enqueue_conversion, parse_queue_url, queue_is_reachable
from tests.local.queue_harness import (
    ACCOUNT,
    LOCATION,
    QUEUE_SECRET,
    REPOSITORY,
    Emulator,
    Worker,
    wait_until,
)

DEADLINE = timedelta(seconds=200)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of the queue may take as long as they take on a busy machine."""
    for bound in ("ENQUEUE_TIMEOUT", "PROBE_TIMEOUT"):
        monkeypatch.setattr(task_queue, bound, timedelta(seconds=60))


@pytest.fixture
def conversions(queue_service: Emulator, target: Worker, patient: None) -> TaskQueue:
    """The queue `conversions`, which delivers to this test's worker."""
    return TaskQueue(queue_service.queue_url, target.url, ACCOUNT, DEADLINE, secret=QUEUE_SECRET)


@pytest.fixture
def nowhere() -> TaskQueue:
    """A queue at an address where nothing listens."""
    return TaskQueue(
        f"grpc://127.0.0.1:{free_port()}/{LOCATION}", "http://127.0.0.1:1", ACCOUNT, DEADLINE, secret=QUEUE_SECRET
    )


@pytest.fixture
def silent() -> Iterator[TaskQueue]:
    """A queue at an address that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        yield TaskQueue(
            f"grpc://127.0.0.1:{port}/{LOCATION}", "http://127.0.0.1:1", ACCOUNT, DEADLINE, secret=QUEUE_SECRET
        )


def test_a_conversion_arrives_at_the_worker_as_its_job(
    conversions: TaskQueue, queue_service: Emulator, target: Worker
) -> None:
    assert enqueue_conversion(conversions, 41, 1) is True

    wait_until(lambda: target.calls, "the call")
    (call,) = target.calls
    assert call.method == "POST"
    assert json.loads(call.body) == {"job": "convert_event_media_to_pdf", "conversion_id": 41}
    assert call.headers["content-type"] == "application/json"
    assert call.task == "conversion-41-1"
    assert call.headers["x-cloudtasks-queuename"] == "conversions"
    caller = ServiceCaller(target.url, queue_service.issuer, ACCOUNT, KeySet(f"{queue_service.issuer}/keys"))
    assert caller.authenticate(call.headers | {"Authorization": call.headers["authorization"]})


def test_the_same_generation_is_enqueued_once(conversions: TaskQueue, target: Worker) -> None:
    assert enqueue_conversion(conversions, 42, 1) is True
    assert enqueue_conversion(conversions, 42, 1) is False
    assert enqueue_conversion(conversions, 42, 2) is True

    wait_until(lambda: len(target.calls) == 2, "both calls")
    assert sorted(call.task for call in target.calls) == ["conversion-42-1", "conversion-42-2"]
    assert enqueue_conversion(conversions, 42, 1) is False  # also after it was done


def test_the_dispatch_deadline_is_the_one_asked_for(conversions: TaskQueue, queue_service: Emulator) -> None:
    enqueue_conversion(conversions, 43, 1)

    kept = queue_service.row(Task(name=f"{conversions.name}/tasks/conversion-43-1"))

    assert kept["dispatch_deadline_ms"] == DEADLINE.total_seconds() * 1000


@pytest.fixture
def stuck() -> Iterator[TaskQueue]:
    """A queue that accepts calls and never answers them."""
    over = threading.Event()
    port = free_port()

    def never(request: bytes, _context: grpc.ServicerContext) -> bytes:
        over.wait(600)
        return request

    with served(port, never):
        yield queue_at(port)
        over.set()


def queue_at(port: int) -> TaskQueue:
    return TaskQueue(f"grpc://127.0.0.1:{port}/{LOCATION}", "http://127.0.0.1:1", ACCOUNT, DEADLINE)


@contextmanager
def served(port: int, answer: Callable[[bytes, grpc.ServicerContext], bytes]) -> Iterator[None]:
    """A gRPC server in this process, which gives this answer to each call."""
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((_Handler(answer),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    yield
    server.stop(grace=0).wait()


class _Handler(grpc.GenericRpcHandler):  # type: ignore[type-arg] # generic only in the stubs
    def __init__(self, answer: Callable[[bytes, grpc.ServicerContext], bytes]) -> None:
        self._answer = answer

    def service(
        self,
        handler_call_details: grpc.HandlerCallDetails,  # noqa: ARG002 - the base class names it
    ) -> "grpc.RpcMethodHandler[Any, Any]":
        return grpc.unary_unary_rpc_method_handler(self._answer)


@pytest.mark.parametrize("fault", ["nowhere", "silent", "stuck"])
def test_a_queue_that_does_not_answer_is_named(fault: str, request: pytest.FixtureRequest) -> None:
    queue = request.getfixturevalue(fault)

    with pytest.raises(TaskQueueUnavailable):  # waiting for its answer would take ten minutes
        enqueue_conversion(queue, 1, 1)

    assert not queue_is_reachable(queue)
    assert (task_queue.ENQUEUE_TIMEOUT + task_queue.PROBE_TIMEOUT).total_seconds() < 4


def test_a_queue_that_does_not_exist_is_unavailable(queue_service: Emulator) -> None:
    elsewhere = queue_service.queue_url.replace("locations/local", "locations/elsewhere")
    queue = TaskQueue(elsewhere, "http://127.0.0.1:1", ACCOUNT, DEADLINE, secret=QUEUE_SECRET)

    with pytest.raises(TaskQueueUnavailable):
        enqueue_conversion(queue, 1, 1)
    assert not queue_is_reachable(queue)


def test_an_account_that_the_queue_may_not_act_as_makes_it_unavailable(queue_service: Emulator) -> None:
    queue = TaskQueue(
        queue_service.queue_url, "http://127.0.0.1:1", "other@signage.test", DEADLINE, secret=QUEUE_SECRET
    )

    with pytest.raises(TaskQueueUnavailable):
        enqueue_conversion(queue, 1, 1)


def test_it_is_reachable_when_the_queue_is_there(conversions: TaskQueue) -> None:
    assert queue_is_reachable(conversions)


@pytest.mark.usefixtures("patient")
def test_a_queue_that_comes_back_is_used_again() -> None:
    """With a server in the queue's place: it is the client's channel that must not wait for minutes."""
    port = free_port()
    queue = queue_at(port)
    with served(port, lambda _request, _context: b""):
        wait_until(lambda: queue_is_reachable(queue), "the first answer")
    away_since = time.monotonic()
    wait_until(lambda: not queue_is_reachable(queue) and time.monotonic() - away_since > 6, "six seconds of asking")

    with served(port, lambda _request, _context: b""):
        wait_until(lambda: queue_is_reachable(queue), "the queue's answer")
        assert enqueue_conversion(queue, 91, 1) is True


@pytest.mark.parametrize(
    ("url", "address"),
    [
        (f"grpc://127.0.0.1:8123/{LOCATION}", "127.0.0.1:8123"),
        ("cloudtasks:///projects/fleet-1/locations/europe-west1", None),
    ],
)
def test_the_address_says_which_queue_is_meant(url: str, address: str | None) -> None:
    assert parse_queue_url(url) == (address, url[url.index("projects/") :])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "grpc://127.0.0.1:8123",
        f"grpc:///{LOCATION}",
        f"http://127.0.0.1:8123/{LOCATION}",
        f"cloudtasks://host/{LOCATION}",
        "cloudtasks:///projects/p",
        f"grpc://127.0.0.1:8123/{LOCATION}/queues/other",
    ],
)
def test_another_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="QUEUE_URL"):
        parse_queue_url(url)


@pytest.mark.parametrize("seconds", [14, 1801])
def test_a_deadline_that_cloud_tasks_would_refuse_is_refused_at_the_start(seconds: int) -> None:
    with pytest.raises(ConfigurationError, match="deadline"):
        TaskQueue(f"cloudtasks:///{LOCATION}", "https://w", ACCOUNT, timedelta(seconds=seconds))


def test_importing_it_loads_neither_grpc_nor_google() -> None:
    program = (
        "import sys, shared.outside.task_queue, shared.outside.oidc;"
        "print([m for m in ('grpc', 'google.cloud.tasks_v2', 'google.api_core', 'requests') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
