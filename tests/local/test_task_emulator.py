"""The local Cloud Tasks by its API, with the ordinary client: names, states, refusals."""

import json
import os
import subprocess
import sys
from datetime import UTC, timedelta
from pathlib import Path
from urllib.request import urlopen

import pytest
import sqlalchemy as sa
from google.api_core import exceptions
from google.cloud.tasks_v2 import CloudTasksClient
from google.cloud.tasks_v2.types import (
    CreateTaskRequest,
    HttpMethod,
    HttpRequest,
    OidcToken,
    Queue,
    Task,
)

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
    Worker,
    all_raise,
    at,
    wait_until,
)


def test_the_queue_conversions_is_there_and_never_gives_up(client: CloudTasksClient) -> None:
    found = client.get_queue(name=f"{LOCATION}/queues/conversions")

    assert found.state == Queue.State.RUNNING
    assert found.retry_config.max_attempts == -1
    assert found.rate_limits.max_concurrent_dispatches == 2


def test_a_task_is_kept_as_it_was_given(queue_service: Emulator, client: CloudTasksClient, queue: str) -> None:
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
    )
    client.create_task(parent=queue, task=given)

    kept = queue_service.row(given)

    assert HttpRequest.deserialize(kept["http_request"]) == request
    assert kept["scheduled_at"] == Task.pb(given).schedule_time.ToDatetime(UTC)
    assert kept["dispatch_deadline_ms"] == 20_000
    assert kept["dispatch_count"] == 0


def test_a_new_task_is_answered_without_its_body(queue_service: Emulator, queue: str) -> None:
    made = queue_service.add(queue, "basic", NOWHERE)

    assert made.view == Task.View.BASIC
    assert made.http_request.body == b""
    assert made.http_request.url == NOWHERE


def test_a_task_without_a_name_gets_one(client: CloudTasksClient, queue: str) -> None:
    task = Task(http_request=HttpRequest(url=NOWHERE))

    names = {client.create_task(parent=queue, task=task).name for _ in range(2)}

    assert len(names) == 2
    assert all(name.startswith(f"{queue}/tasks/") for name in names)


def test_a_time_in_the_past_becomes_now(queue_service: Emulator, queue: str) -> None:
    made = queue_service.add(queue, "late", NOWHERE, schedule_time=at(-HOUR))

    message = Task.pb(made)
    assert timedelta(0) <= message.schedule_time.ToDatetime() - message.create_time.ToDatetime() < timedelta(seconds=1)


def test_a_name_is_taken_while_its_task_lives(queue_service: Emulator, queue: str) -> None:
    queue_service.add(queue, "once", NOWHERE)

    with pytest.raises(exceptions.AlreadyExists):
        queue_service.add(queue, "once", NOWHERE)


@pytest.mark.parametrize(("hours", "free"), [(0, False), (23.9, False), (24.1, True)])
def test_a_name_is_taken_for_24_hours_after_its_task(
    hours: float, free: bool, queue_service: Emulator, queue: str
) -> None:
    queue_service.add(queue, "gone", NOWHERE)
    queue_service.change(queue, gone_at=sa.func.now() - timedelta(hours=hours))

    if not free:
        with pytest.raises(exceptions.AlreadyExists):
            queue_service.add(queue, "gone", NOWHERE)
        assert queue_service.names(queue) == []
    else:
        assert queue_service.add(queue, "gone", NOWHERE).dispatch_count == 0
        assert queue_service.names(queue) == ["gone"]


def test_a_tombstone_keeps_no_content(queue_service: Emulator, running: str, target: Worker) -> None:
    task = queue_service.add(running, "emptied", target.url)
    wait_until(lambda: queue_service.row(task)["gone_at"], "the end of the task")

    assert queue_service.row(task)["http_request"] == b""


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


def test_a_queue_that_is_not_there_is_not_found(queue_service: Emulator, client: CloudTasksClient) -> None:
    missing = f"{LOCATION}/queues/missing"
    all_raise(
        exceptions.NotFound,
        [lambda: queue_service.add(missing, "x", NOWHERE), lambda: client.get_queue(name=missing)],
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
