"""What the local Cloud Tasks refuses: with the cloud's error, or with a message that it does not offer the feature."""

import json
from datetime import timedelta
from importlib.resources import files
from typing import Any

import grpc
import pytest
from google.api_core import exceptions
from google.cloud.tasks_v2 import CloudTasksClient
from google.cloud.tasks_v2.types import (
    AppEngineHttpRequest,
    HttpMethod,
    HttpRequest,
    OAuthToken,
    OidcToken,
    RetryConfig,
    Task,
)
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from tests.local.queue_harness import ACCOUNT, HOUR, LOCATION, NOWHERE, Emulator, all_raise, at


def changed(**fields: Any) -> Task:
    return Task({"http_request": HttpRequest(url=NOWHERE), **fields})


def request(**fields: Any) -> Task:
    return Task(http_request=HttpRequest({"url": NOWHERE, **fields}))


INVALID = {
    "no request": Task(),
    "no address": request(url=""),
    "an address that is not HTTP": request(url="ftp://127.0.0.1/"),
    "an address without a host": request(url="http:///work"),
    "an address with a login": request(url="http://user:word@127.0.0.1/"),
    "a port that is none": request(url="http://127.0.0.1:99999/"),
    "an address of 2,084 characters": request(url=NOWHERE + "x" * (2084 - len(NOWHERE))),
    "a body with GET": request(http_method=HttpMethod.GET, body=b"x"),
    "a body with DELETE": request(http_method=HttpMethod.DELETE, body=b"x"),
    "a line break in a header": request(headers={"X-A": "1\r\nX-B: 2"}),
    "a space in a header's name": request(headers={"X A": "1"}),
    "80 KB of headers": request(headers={"X-A": "1" * 81920}),
    "a megabyte and more": request(body=b"x" * (1 << 20)),
    "a token of nobody": request(oidc_token=OidcToken(audience="a")),
    "a name of another queue": changed(name=f"{LOCATION}/queues/other/tasks/x"),
    "a name that is no full name": changed(name="x"),
    "a name with a dot": changed(name=f"{LOCATION}/queues/any/tasks/a.b"),
    "a deadline of 14.9 s": changed(dispatch_deadline=timedelta(seconds=14.9)),
    "a deadline of 30 min and more": changed(dispatch_deadline=timedelta(seconds=1800.1)),
    "a deadline that is no duration": changed(dispatch_deadline=Duration(seconds=10**18)),
    "more than 30 days away": changed(schedule_time=at(31 * 24 * HOUR)),
    "a time that is none": changed(schedule_time=Timestamp(seconds=10**18)),
}


@pytest.mark.parametrize("task", INVALID.values(), ids=INVALID.keys())
def test_a_task_is_invalid_with(task: Task, queue_service: Emulator, queue: str) -> None:
    with pytest.raises(exceptions.InvalidArgument):
        queue_service.client.create_task(parent=queue, task=task)

    assert queue_service.names(queue) == []


@pytest.mark.parametrize("seconds", [15, 1800])
def test_the_ends_of_the_deadlines_interval_are_allowed(seconds: int, queue_service: Emulator, queue: str) -> None:
    made = queue_service.add(queue, "edge", NOWHERE, dispatch_deadline=timedelta(seconds=seconds))

    assert made.dispatch_deadline == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "parent", ["", "conversions", "projects/local/queues/x", f"{LOCATION}/queues/a_b", f"{LOCATION}/queues/"]
)
def test_a_queue_name_that_is_none_is_invalid(parent: str, client: CloudTasksClient) -> None:
    with pytest.raises(exceptions.InvalidArgument):
        client.create_task(parent=parent, task=changed())


def test_a_task_may_only_ask_for_the_identity_of_the_queues_account(client: CloudTasksClient, queue: str) -> None:
    token = OidcToken(service_account_email="scheduler@signage.test")

    with pytest.raises(exceptions.PermissionDenied):
        client.create_task(parent=queue, task=request(oidc_token=token))


def test_what_the_emulator_does_not_offer_says_so(client: CloudTasksClient, queue: str) -> None:
    all_raise(
        exceptions.MethodNotImplemented,
        [
            lambda: client.create_task(parent=queue, task=changed(retry_config=RetryConfig(max_attempts=4))),
            lambda: client.create_task(
                parent=queue, task=Task(app_engine_http_request=AppEngineHttpRequest(relative_uri="/"))
            ),
            lambda: client.create_task(
                parent=queue, task=request(oauth_token=OAuthToken(service_account_email=ACCOUNT))
            ),
        ],
        "does not offer",
    )


OFFERED = {"CreateTask", "GetQueue"}


def test_of_the_services_methods_two_are_offered_and_all_others_say_unimplemented(queue_service: Emulator) -> None:
    said = json.loads((files("google.cloud.tasks_v2") / "gapic_metadata.json").read_text())
    methods = set(said["services"]["CloudTasks"]["clients"]["grpc"]["rpcs"])
    assert len(methods) > len(OFFERED)

    offered = {method for method in methods if answer_to_nothing(queue_service, method) != "UNIMPLEMENTED"}

    assert offered == OFFERED


def answer_to_nothing(queue_service: Emulator, method: str) -> str:
    """Return the status of a call with an empty message."""
    call = queue_service.channel.unary_unary(f"/google.cloud.tasks.v2.CloudTasks/{method}", None, None)
    try:
        call(b"", timeout=60)
    except grpc.RpcError as error:
        return str(error.code().name)
    return "OK"
