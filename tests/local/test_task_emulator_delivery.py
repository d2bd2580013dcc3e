"""How the local Cloud Tasks delivers: requests, retries, pauses, limits, identity."""

import itertools
import json
import re
import socket
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa
from google.api_core import exceptions
from google.cloud.tasks_v2.types import HttpMethod, HttpRequest, OidcToken, Task

from deploy.parts.task_queue.retry_rules import TASK_RETENTION
from shared.errors import InvalidIdentity
from shared.outside.oidc import KeySet, ServiceCaller
from tests.local.queue_harness import (
    ACCOUNT,
    LOCATION,
    Answer,
    Call,
    Emulator,
    Worker,
    wait_until,
)


def answers(*statuses: int) -> Callable[[Call], Answer]:
    """Return an answer function: these statuses in turn, then the last one again and again."""
    left = list(statuses)
    return lambda _call: (left.pop(0) if len(left) > 1 else left[0], {})


def test_a_task_becomes_the_request_it_stands_for(queue_service: Emulator, running: str, target: Worker) -> None:
    request = HttpRequest(
        url=f"{target.url}/ä b?c=d%20e&f=[1]",
        http_method=HttpMethod.PUT,
        headers={
            "Content-Type": "application/json",
            "X-Own": "yes",
            "Host": "elsewhere",
            "User-Agent": "me",
            "Content-Length": "99",
            "X-CloudTasks-TaskRetryCount": "77",
            "X-Google-Secret": "1",
        },
        body=b'{"a": 1}',
    )
    began = time.time()
    queue_service.client.create_task(parent=running, task=Task(name=f"{running}/tasks/whole", http_request=request))
    wait_until(lambda: target.calls, "the call")

    (call,) = target.calls
    assert (call.method, call.path, call.body) == ("PUT", "/work/%C3%A4%20b?c=d%20e&f=[1]", b'{"a": 1}')
    assert call.headers["content-type"] == "application/json"
    assert call.headers["x-own"] == "yes"
    assert call.headers["host"] == target.url.split("/")[2]
    assert call.headers["user-agent"] == "Google-Cloud-Tasks"
    assert call.headers["content-length"] == "8"
    assert "x-google-secret" not in call.headers
    assert call.headers["x-cloudtasks-queuename"] == running.rpartition("/")[2]
    assert call.headers["x-cloudtasks-taskname"] == "whole"
    assert call.headers["x-cloudtasks-taskretrycount"] == "0"
    assert call.headers["x-cloudtasks-taskexecutioncount"] == "0"
    assert began - 1 < float(call.headers["x-cloudtasks-tasketa"]) < time.time()
    assert re.fullmatch(r"\d+\.\d{6}", call.headers["x-cloudtasks-tasketa"])
    assert "x-cloudtasks-taskpreviousresponse" not in call.headers
    assert "x-cloudtasks-taskretryreason" not in call.headers


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_2xx_ends_a_task(status: int, queue_service: Emulator, running: str, target: Worker) -> None:
    target.answer = answers(status)

    queue_service.add(running, "good", target.url)
    wait_until(lambda: not queue_service.names(running), "the end of the task")

    assert len(target.calls) == 1
    with pytest.raises(exceptions.AlreadyExists):  # the name of a finished task is taken
        queue_service.add(running, "good", target.url)


@pytest.mark.parametrize("status", [301, 304, 400, 404, 409, 429, 500, 503])
def test_any_other_status_is_tried_again(status: int, queue_service: Emulator, running: str, target: Worker) -> None:
    target.answer = answers(status, 200)

    queue_service.add(running, "bad", target.url)
    wait_until(lambda: not queue_service.names(running), "the end of the task")

    assert len(target.calls) == 2
    assert target.calls[1].headers["x-cloudtasks-taskpreviousresponse"] == str(status)
    assert str(status) in target.calls[1].headers["x-cloudtasks-taskretryreason"]


def test_the_retry_count_counts_all_and_the_execution_count_no_5xx(
    queue_service: Emulator, running: str, target: Worker
) -> None:
    target.answer = answers(500, 404, 503, 429, 200)

    queue_service.add(running, "counted", target.url)
    wait_until(lambda: not queue_service.names(running), "the end of the task")

    counts = [
        (call.headers["x-cloudtasks-taskretrycount"], call.headers["x-cloudtasks-taskexecutioncount"])
        for call in target.calls
    ]
    assert counts == [("0", "0"), ("1", "0"), ("2", "1"), ("3", "1"), ("4", "2")]


def test_a_worker_that_is_not_there_is_tried_until_it_is(queue_service: Emulator, running: str, target: Worker) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound but not listening: refused
        made = queue_service.add(running, "early", f"http://127.0.0.1:{nobody.getsockname()[1]}/work")
        wait_until(lambda: queue_service.row(made)["dispatch_count"] >= 3, "three tries")

    assert queue_service.row(made)["response_count"] == 0
    assert not target.calls


def test_of_a_failed_task_is_kept_how_it_was_tried(queue_service: Emulator, target: Worker) -> None:
    target.answer = answers(429)

    task = queue_service.add(f"{LOCATION}/queues/hourly", "kept", target.url)
    wait_until(lambda: queue_service.row(task)["response_count"] == 1, "the answer")

    found = queue_service.row(task)
    assert (found["dispatch_count"], found["last_http_status"]) == (1, 429)
    assert "429" in found["last_failure"]
    assert found["scheduled_at"] - found["last_responded_at"] == timedelta(hours=1)


def test_retry_after_is_obeyed(queue_service: Emulator, running: str, target: Worker) -> None:
    target.answer = lambda _call: (503, {"Retry-After": "1800"})

    task = queue_service.add(running, "asked", target.url)
    wait_until(lambda: queue_service.row(task)["response_count"] == 1, "the answer")

    found = queue_service.row(task)
    assert found["scheduled_at"] - found["last_responded_at"] == timedelta(seconds=1800)


def test_the_waits_follow_the_queues_retry_config(queue_service: Emulator, target: Worker) -> None:
    target.answer = answers(500)

    queue_service.add(f"{LOCATION}/queues/growing", "paced", target.url)
    wait_until(lambda: len(target.calls) >= 5, "five tries")

    waits = [later.at - sooner.at for sooner, later in itertools.pairwise(target.calls[:5])]
    for waited, least in zip(waits, (0.1, 0.2, 0.35, 0.35), strict=True):
        assert least - 0.02 <= waited


def test_a_task_is_given_up_when_it_was_kept_for_a_month(queue_service: Emulator, running: str, target: Worker) -> None:
    target.answer = answers(500)
    task = queue_service.add(running, "hopeless", target.url)
    wait_until(lambda: len(target.calls) >= 3, "three tries")

    queue_service.change(running, created_at=sa.func.now() - TASK_RETENTION)

    wait_until(lambda: queue_service.row(task)["gone_at"], "the end of the tries")


def test_each_delivery_carries_an_identity_that_the_functions_accept(
    queue_service: Emulator, running: str, target: Worker
) -> None:
    target.answer = answers(503, 200)
    token = OidcToken(service_account_email=ACCOUNT, audience="https://worker.example")
    request = HttpRequest(url=target.url, headers={"Authorization": "Bearer own"}, oidc_token=token)
    task = Task(name=f"{running}/tasks/signed", http_request=request)
    queue_service.client.create_task(parent=running, task=task)
    wait_until(lambda: not queue_service.names(running), "the end of the task")

    keys = KeySet(f"{queue_service.issuer}/keys")
    worker = ServiceCaller("https://worker.example", queue_service.issuer, ACCOUNT, keys)
    tick = ServiceCaller("https://tick.example", queue_service.issuer, ACCOUNT, keys)
    for call in target.calls:
        accepted = worker.authenticate({"Authorization": call.headers["authorization"]})
        assert accepted["exp"] - accepted["iat"] == 3600
        with pytest.raises(InvalidIdentity):
            tick.authenticate({"Authorization": call.headers["authorization"]})


def test_the_audience_is_the_address_when_the_task_names_none(
    queue_service: Emulator, running: str, target: Worker
) -> None:
    request = HttpRequest(url=target.url, oidc_token=OidcToken(service_account_email=ACCOUNT))
    queue_service.client.create_task(parent=running, task=Task(http_request=request))
    wait_until(lambda: target.calls, "the call")

    caller = ServiceCaller(target.url, queue_service.issuer, ACCOUNT, KeySet(f"{queue_service.issuer}/keys"))
    assert caller.authenticate({"Authorization": target.calls[0].headers["authorization"]})


def test_a_task_without_an_identity_carries_its_own_authorization(
    queue_service: Emulator, running: str, target: Worker
) -> None:
    request = HttpRequest(url=target.url, headers={"Authorization": "Bearer own"})
    queue_service.client.create_task(parent=running, task=Task(http_request=request))
    wait_until(lambda: target.calls, "the call")

    assert target.calls[0].headers["authorization"] == "Bearer own"


def test_every_attempt_is_one_json_log_line(queue_service: Emulator, running: str, target: Worker) -> None:
    target.answer = answers(404, 200)
    queue_service.add(running, "logged", target.url)
    wait_until(lambda: not queue_service.names(running), "the end of the task")

    lines = [json.loads(line) for line in queue_service.log.read_text().splitlines()]
    ours = [line for line in lines if line.get("task") == "logged"]
    assert [(line["attempt"], line["status"], line["severity"]) for line in ours] == [
        (1, 404, "WARNING"),
        (2, 200, "INFO"),
    ]
    assert LOCATION not in ours[0]["queue"]
