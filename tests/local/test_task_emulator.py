"""The local Cloud Tasks by its API, with the ordinary client: names, states, refusals."""

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from urllib.request import urlopen

import pytest
from google.api_core import exceptions
from google.cloud.tasks_v2 import CloudTasksClient
from google.cloud.tasks_v2.types import (
    CreateTaskRequest,
    HttpMethod,
    HttpRequest,
    OidcToken,
    Queue,
    RetryConfig,
    Task,
)
from sqlalchemy import Engine, text

from deploy.parts import identity
from deploy.parts.probes import free_port
from tests.local.queue_harness import (
    ACCOUNT,
    HOUR,
    LOCATION,
    NOWHERE,
    QUEUE_SECRET,
    REPOSITORY,
    Emulator,
    all_raise,
    at,
)


def due(task: Task) -> datetime:
    """When it is scheduled, to the microsecond that is kept."""
    moment: datetime = Task.pb(task).schedule_time.ToDatetime()
    return moment


def test_the_queue_conversions_is_there_and_never_gives_up(client: CloudTasksClient) -> None:
    found = client.get_queue(name=f"{LOCATION}/queues/conversions")

    assert found.state == Queue.State.RUNNING
    assert found.retry_config.max_attempts == -1
    assert found.rate_limits.max_concurrent_dispatches == 2


def test_a_new_queue_has_the_defaults_of_cloud_tasks(client: CloudTasksClient) -> None:
    made = client.create_queue(parent=LOCATION, queue=Queue(name=f"{LOCATION}/queues/plain"))

    assert made.rate_limits.max_dispatches_per_second == 500
    assert made.rate_limits.max_concurrent_dispatches == 1000
    assert made.retry_config.max_attempts == 100
    assert made.retry_config.min_backoff == timedelta(milliseconds=100)
    assert made.retry_config.max_backoff == timedelta(hours=1)
    assert made.retry_config.max_doublings == 16
    assert made == client.get_queue(name=made.name)


def test_a_task_is_kept_as_it_was_given(client: CloudTasksClient, queue: str) -> None:
    request = HttpRequest(
        url=NOWHERE,
        http_method=HttpMethod.PUT,
        headers={"Content-Type": "text/plain"},
        body=b"\x00\xff",
        oidc_token=OidcToken(service_account_email=ACCOUNT, audience="a"),
    )
    given = Task(
        name=f"{queue}/tasks/kept",
        http_request=request,
        schedule_time=at(HOUR),
        dispatch_deadline=timedelta(seconds=20),
        retry_config=RetryConfig(max_attempts=4),
    )
    client.create_task(parent=queue, task=given)

    found = client.get_task(request={"name": given.name, "response_view": Task.View.FULL})

    assert found.http_request == request
    assert due(found) == due(given)
    assert found.dispatch_deadline == timedelta(seconds=20)
    assert found.retry_config.max_attempts == 4
    assert (found.dispatch_count, found.response_count) == (0, 0)
    assert found.view == Task.View.FULL


def test_the_basic_view_leaves_the_body_out(queue_service: Emulator, client: CloudTasksClient, queue: str) -> None:
    made = queue_service.add(queue, "basic", NOWHERE)

    assert made.view == Task.View.BASIC
    assert made.http_request.body == b""
    assert client.get_task(name=made.name).http_request.url == NOWHERE


def test_a_task_without_a_name_gets_one(client: CloudTasksClient, queue: str) -> None:
    task = Task(http_request=HttpRequest(url=NOWHERE))

    names = {client.create_task(parent=queue, task=task).name for _ in range(2)}

    assert len(names) == 2
    assert all(name.startswith(f"{queue}/tasks/") for name in names)


def test_a_time_in_the_past_becomes_now(queue_service: Emulator, queue: str) -> None:
    made = queue_service.add(queue, "late", NOWHERE, schedule_time=at(-HOUR))

    assert timedelta(0) <= due(made) - Task.pb(made).create_time.ToDatetime() < timedelta(seconds=1)


def test_a_name_is_taken_while_its_task_lives(queue_service: Emulator, queue: str) -> None:
    queue_service.add(queue, "once", NOWHERE)

    with pytest.raises(exceptions.AlreadyExists):
        queue_service.add(queue, "once", NOWHERE)


@pytest.mark.parametrize(("hours", "free"), [(0, False), (23.9, False), (24.1, True)])
def test_a_name_is_taken_for_24_hours_after_its_task(
    hours: float, free: bool, queue_service: Emulator, queue_engine: Engine, queue: str
) -> None:
    task = queue_service.add(queue, "gone", NOWHERE)
    queue_service.client.delete_task(name=task.name)
    with queue_engine.begin() as connection:
        connection.execute(
            text("UPDATE task_emulator.tasks SET gone_at = now() - make_interval(secs => :s) WHERE queue = :q"),
            {"s": hours * HOUR, "q": queue},
        )

    if not free:
        with pytest.raises(exceptions.AlreadyExists):
            queue_service.add(queue, "gone", NOWHERE)
        assert queue_service.names(queue) == []
    else:
        assert queue_service.add(queue, "gone", NOWHERE).dispatch_count == 0
        assert queue_service.names(queue) == ["gone"]


def test_a_tombstone_keeps_no_content(queue_service: Emulator, queue_engine: Engine, queue: str) -> None:
    queue_service.client.delete_task(name=queue_service.add(queue, "emptied", NOWHERE).name)

    with queue_engine.begin() as connection:
        statement = text("SELECT http_request FROM task_emulator.tasks WHERE queue = :q")
        assert bytes(connection.execute(statement, {"q": queue}).scalar_one()) == b""


def test_of_many_creators_at_once_one_gets_the_name(queue_service: Emulator, queue: str) -> None:
    task = Task(name=f"{queue}/tasks/contested", http_request=HttpRequest(url=NOWHERE))
    stub = queue_service.channel.unary_unary(
        "/google.cloud.tasks.v2.CloudTasks/CreateTask",
        request_serializer=CreateTaskRequest.serialize,
        response_deserializer=Task.deserialize,
    )

    calls = [stub.future(CreateTaskRequest(parent=queue, task=task), timeout=60) for _ in range(20)]

    codes = sorted(call.code().name for call in calls)
    assert codes == ["ALREADY_EXISTS"] * 19 + ["OK"]


def test_tasks_are_listed_in_pages(queue_service: Emulator, queue: str) -> None:
    for number in range(7):
        queue_service.add(queue, f"n{number}", NOWHERE)

    pages = list(queue_service.client.list_tasks(request={"parent": queue, "page_size": 3}).pages)

    assert [len(page.tasks) for page in pages] == [3, 3, 1]
    assert queue_service.names(queue) == [f"n{number}" for number in range(7)]


def test_large_tasks_are_listed_in_pages_that_a_client_can_take(client: CloudTasksClient, queue: str) -> None:
    for _ in range(6):
        request = HttpRequest(url=NOWHERE, body=b"x" * 1_000_000)
        client.create_task(parent=queue, task=Task(http_request=request))

    listed = list(client.list_tasks(request={"parent": queue, "response_view": Task.View.FULL}))

    assert [len(task.http_request.body) for task in listed] == [1_000_000] * 6


def test_a_purge_drops_every_task_and_keeps_the_queue(queue_service: Emulator, queue: str) -> None:
    for number in range(3):
        queue_service.add(queue, f"n{number}", NOWHERE)

    purged = queue_service.client.purge_queue(name=queue)

    assert queue_service.names(queue) == []
    assert purged.purge_time is not None
    assert purged.state == Queue.State.PAUSED
    with pytest.raises(exceptions.AlreadyExists):
        queue_service.add(queue, "n1", NOWHERE)
    queue_service.add(queue, "after", NOWHERE)
    assert queue_service.names(queue) == ["after"]


def test_pause_and_resume_change_the_state(client: CloudTasksClient, queue: str) -> None:
    assert client.get_queue(name=queue).state == Queue.State.PAUSED
    assert client.resume_queue(name=queue).state == Queue.State.RUNNING
    assert client.resume_queue(name=queue).state == Queue.State.RUNNING
    assert client.pause_queue(name=queue).state == Queue.State.PAUSED


def test_a_deleted_queue_is_gone_with_its_tasks(queue_service: Emulator, queue: str) -> None:
    task = queue_service.add(queue, "lost", NOWHERE)

    queue_service.client.delete_queue(name=queue)

    all_raise(
        exceptions.NotFound,
        [
            lambda: queue_service.client.get_queue(name=queue),
            lambda: queue_service.client.get_task(name=task.name),
            lambda: queue_service.client.delete_queue(name=queue),
        ],
        "does not exist",
    )


def test_a_queue_cannot_be_made_twice(client: CloudTasksClient, queue: str) -> None:
    with pytest.raises(exceptions.AlreadyExists):
        client.create_queue(parent=LOCATION, queue=Queue(name=queue))


def test_what_is_not_there_is_not_found(queue_service: Emulator, client: CloudTasksClient, queue: str) -> None:
    missing = f"{LOCATION}/queues/missing"
    all_raise(
        exceptions.NotFound,
        [
            lambda: queue_service.add(missing, "x", NOWHERE),
            lambda: queue_service.names(missing),
            lambda: client.get_queue(name=missing),
            lambda: client.pause_queue(name=missing),
            lambda: client.resume_queue(name=missing),
            lambda: client.purge_queue(name=missing),
            lambda: client.get_task(name=f"{queue}/tasks/missing"),
            lambda: client.delete_task(name=f"{queue}/tasks/missing"),
        ],
        "does not exist",
    )


def test_the_key_is_private_and_its_public_half_is_served(queue_service: Emulator) -> None:
    key = identity.load_or_create_key(queue_service.log.parent / "secrets" / "oidc_key.pem")

    with urlopen(f"{queue_service.issuer}/keys", timeout=60) as reply:
        assert json.load(reply) == identity.key_set(key)


def test_a_second_emulator_on_the_same_port_does_not_start(queue_service: Emulator, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "DATABASE_URL": queue_service.database_url,
        "TASK_QUEUE_PORT": str(queue_service.port),
        "TASK_QUEUE_KEYS_PORT": str(free_port()),
        "LOCAL_STATE_DIR": str(tmp_path),
        "TASKS_SERVICE_ACCOUNT": ACCOUNT,
        "QUEUE_SECRET": QUEUE_SECRET,
    }
    done = subprocess.run(
        [sys.executable, "-m", "deploy.parts.task_queue"],
        cwd=REPOSITORY,
        env=environment,
        timeout=60,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 1
    assert b"task_emulator_failed" in done.stderr


def test_it_only_listens_on_loopback(queue_service: Emulator) -> None:
    tables = [Path(f"/proc/{queue_service.process.pid}/net/{name}").read_text() for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    places = [row[1].split(":") for row in rows if row[3] == "0A"]  # listening
    ports = {queue_service.port, queue_service.keys_port}
    addresses = [address for address, port in places if int(port, 16) in ports]

    assert len(addresses) == 2
    assert set(addresses) <= {"0100007F", "0000000000000000FFFF00000100007F"}  # 127.0.0.1, plain and mapped
