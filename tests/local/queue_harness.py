"""Shared by the tests of the task queue: the real emulator process, its client, and a worker to call."""

import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import pytest
import sqlalchemy as sa
from google.cloud.tasks_v2 import CloudTasksClient
from google.cloud.tasks_v2.services.cloud_tasks.transports import CloudTasksGrpcTransport
from google.cloud.tasks_v2.types import HttpMethod, HttpRequest, Task
from google.protobuf.timestamp_pb2 import Timestamp
from sqlalchemy import Engine, RowMapping

from deploy.parts.probes import free_port, http_answers
from deploy.parts.short_lived import running
from deploy.parts.task_queue.schema import tasks
from shared.postgres.door import engine_for
from tests import migrated
from tests.serving import serving

LOCATION = "projects/local/locations/local"
ACCOUNT = "tasks@signage.test"
QUEUE_SECRET = secrets.token_urlsafe(32)
NOWHERE = "http://127.0.0.1:1/work"  # nothing listens there
HOUR = 3600.0  # seconds
HELD_SECONDS = 600.0  # longer than any wait: only the test releases a held call
REPOSITORY = Path(__file__).resolve().parents[2]
SHIPPED = "deploy.parts.task_queue"
WITH_MORE_QUEUES = "tests.local.queue_program"


def wait_until(condition: Callable[[], Any], what: str, seconds: float = 60.0) -> None:
    """Return once `condition` holds; after `seconds`, fail with a message that names `what`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.01)


@dataclass(frozen=True)
class Call:
    """One request that the worker received."""

    at: float
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def task(self) -> str:
        return self.headers["x-cloudtasks-taskname"]


Answer = tuple[int, dict[str, str]]


class Worker(ThreadingHTTPServer):
    """A real HTTP server that records each call and answers as `answer` says (200 unless set)."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _WorkerHandler)
        self.calls: list[Call] = []
        self.under_way = 0
        self.answer: Callable[[Call], Answer] = lambda _call: (200, {})
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/work"

    def calls_of(self, task: str) -> list[Call]:
        """Return the calls for one task, in the order of their arrival."""
        return [call for call in list(self.calls) if call.task == task]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: in these tests callers hang up or are killed."""


class _WorkerHandler(BaseHTTPRequestHandler):
    server: Worker

    def _work(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = Call(time.monotonic(), self.command, self.path, headers, body)
        with self.server.lock:
            self.server.calls.append(call)
        status, answered = self.server.answer(call)
        self.send_response(status)
        for name, value in answered.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET = do_PUT = do_DELETE = _work  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


@contextmanager
def worker(port: int = 0) -> Iterator[Worker]:
    """Run a worker during the block, on a free port unless one is given."""
    with serving(Worker(port)) as server:
        yield server


@dataclass
class Emulator:
    """A running emulator process and the ordinary client, connected to it."""

    process: subprocess.Popen[bytes]
    database_url: str
    port: int
    keys_port: int
    log: Path
    channel: grpc.Channel
    engine: Engine  # to read and change the tables directly
    client: CloudTasksClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = CloudTasksClient(transport=CloudTasksGrpcTransport(channel=self.channel))

    @property
    def queue_url(self) -> str:
        return f"grpc://127.0.0.1:{self.port}/{LOCATION}"

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.keys_port}"

    def kill(self) -> None:
        """Kill the process without a warning."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def add(self, queue: str, name: str, url: str, **fields: Any) -> Task:
        """Add a task that posts `{}` to `url`; `fields` are those of the Task."""
        request = HttpRequest(http_method=HttpMethod.POST, url=url, body=b"{}")
        task = Task({"name": f"{queue}/tasks/{name}", "http_request": request, **fields})
        return self.client.create_task(parent=queue, task=task)

    def names(self, queue: str) -> list[str]:
        """Return the short names of the tasks that wait or are being delivered."""
        wanted = sa.select(tasks.c.task_id).where(tasks.c.queue == queue, tasks.c.gone_at.is_(None))
        with self.engine.begin() as connection:
            return list(connection.execute(wanted.order_by(tasks.c.id)).scalars())

    def row(self, task: Task) -> RowMapping:
        """Return the stored row of a task, also after the task was removed."""
        queue, _, task_id = task.name.rpartition("/tasks/")
        wanted = sa.select(tasks).where(tasks.c.queue == queue, tasks.c.task_id == task_id)
        with self.engine.begin() as connection:
            return connection.execute(wanted).mappings().one()

    def change(self, queue: str, **values: Any) -> int:
        """Set these values in the rows of every task of a queue; return the number of tasks."""
        with self.engine.begin() as connection:
            return connection.execute(sa.update(tasks).where(tasks.c.queue == queue).values(values)).rowcount

    def clear(self, *queues: str) -> None:
        """Delete every task of these queues; an answer that arrives later changes nothing."""
        with self.engine.begin() as connection:
            connection.execute(sa.delete(tasks).where(tasks.c.queue.in_(queues)))


class _WithSecret(grpc.UnaryUnaryClientInterceptor):  # type: ignore[type-arg] # generic only in the stubs
    """Sends the queue's secret with every call."""

    def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        metadata = [*(client_call_details.metadata or ()), ("authorization", f"Bearer {QUEUE_SECRET}")]
        return continuation(client_call_details._replace(metadata=metadata), request)


@contextmanager
def emulator(
    database_url: str, state: Path, port: int | None = None, targets: str = "*", program: str = SHIPPED
) -> Iterator[Emulator]:
    """Run the emulator on free ports, or on `port`, and return once it delivers. `targets`: where it may deliver to."""
    port, keys_port = port or free_port(), free_port()
    own_url = migrated.address_for("task_queue", database_url)
    environment = {
        "DATABASE_URL": own_url,
        "QUEUE_URL": f"grpc://127.0.0.1:{port}/{LOCATION}",
        "TASK_QUEUE_PORT": str(port),
        "TASK_QUEUE_KEYS_PORT": str(keys_port),
        "LOCAL_STATE_DIR": str(state),
        "TASKS_SERVICE_ACCOUNT": ACCOUNT,
        "QUEUE_SECRET": QUEUE_SECRET,
        "TASK_QUEUE_TARGETS": targets,
        "OIDC_ISSUER": "",
        "PYTHONPATH": str(REPOSITORY),
    }
    command = [sys.executable, "-m", program]
    ready = http_answers(keys_port, "/healthz", 200)
    log = state / f"task_emulator.{port}.log"
    with (
        running(command, ready, log, environment=environment) as process,
        grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        secret = grpc.intercept_channel(channel, _WithSecret())
        engine = engine_for(own_url, "tests")
        try:
            yield Emulator(process, own_url, port, keys_port, log, secret, engine)
        finally:
            engine.dispose()


def all_raise(error: type[Exception], calls: Sequence[Callable[[], object]], saying: str) -> None:
    """Check that each of `calls` raises `error` with a message that contains `saying`."""
    for call in calls:
        with pytest.raises(error, match=saying):
            call()


def at(seconds_from_now: float) -> Timestamp:
    """Return a time for `schedule_time`."""
    moment = Timestamp()
    moment.FromNanoseconds(time.time_ns() + int(seconds_from_now * 1e9))
    return moment
