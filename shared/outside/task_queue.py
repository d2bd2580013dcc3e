"""The job queues: put conversions and notifications on Cloud Tasks.

Notifications have their own queue: they must not wait behind conversions of minutes.

The client google-cloud-tasks serves both Cloud Tasks and our own queue. grpc and google are imported at the first
use, which saves 0.3 s of a cold start that enqueues nothing (reference machine).
"""

import json
import logging
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from shared.errors import ConfigurationError, TaskQueueUnavailable
from shared.structured_log import event

if TYPE_CHECKING:
    from google.cloud.tasks_v2 import CloudTasksClient
    from google.cloud.tasks_v2.types import Task

QUEUE_ID = "conversions"
CONVERSION_JOB = "convert_event_media_to_pdf"
NOTIFICATIONS_QUEUE_ID = "notifications"
NOTIFICATION_JOB = "deliver_notification"
ENQUEUE_TIMEOUT = timedelta(seconds=2.5)
PROBE_TIMEOUT = timedelta(seconds=1)
# The dispatch deadlines that Cloud Tasks allows for an HTTP task.
SHORTEST_DISPATCH_DEADLINE = timedelta(seconds=15)
LONGEST_DISPATCH_DEADLINE = timedelta(minutes=30)
# Without these a channel waits for up to two minutes after a refused connection, even if the queue is back, and every
# enqueue in between fails at once. The local queue is never behind a proxy.
CHANNEL_OPTIONS = (
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 1500),  # also the timeout of one connection attempt
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.enable_http_proxy", 0),
)
_LOCATION = re.compile(r"projects/[^/]+/locations/[^/]+")


class TaskQueue:
    """A queue for jobs, and the worker that it delivers them to."""

    def __init__(
        self,
        queue_url: str,
        worker_url: str,
        service_account: str,
        dispatch_deadline: timedelta,
        *,
        queue_id: str = QUEUE_ID,
        path: str = "",
        secret: str = "",
    ) -> None:
        """`dispatch_deadline`: the time for one delivery (for conversions D + 80 s).

        The queue posts tasks to `worker_url` + `path`; the audience of their tokens is `worker_url`. `secret`
        authenticates callers of our own queue.
        Raises ConfigurationError when Cloud Tasks does not accept the address or the deadline.
        """
        if not SHORTEST_DISPATCH_DEADLINE <= dispatch_deadline <= LONGEST_DISPATCH_DEADLINE:
            raise ConfigurationError(f"the dispatch deadline {dispatch_deadline} is not 15 s to 30 min")
        self.address, self.location = parse_queue_url(queue_url)
        self.worker_url = worker_url
        self.queue_id = queue_id
        self.path = path
        self.service_account = service_account
        self.dispatch_deadline = dispatch_deadline
        self.metadata = (("authorization", f"Bearer {secret}"),) if secret else ()

    @property
    def name(self) -> str:
        """The queue's full resource name."""
        return f"{self.location}/queues/{self.queue_id}"


def parse_queue_url(queue_url: str) -> tuple[str | None, str]:
    """The address (None: Google's own) and the location `projects/<p>/locations/<l>` of a QUEUE_URL.

    Raises ConfigurationError unless it is `grpc://host:port/<location>` or `cloudtasks:///<location>`.
    """
    parts = urlsplit(queue_url)
    location = parts.path.strip("/")
    local = parts.scheme == "grpc" and bool(parts.netloc)
    cloud = parts.scheme == "cloudtasks" and not parts.netloc
    if not (local or cloud) or not _LOCATION.fullmatch(location):
        raise ConfigurationError(
            "QUEUE_URL must be grpc://host:port/projects/<p>/locations/<l> or cloudtasks:///projects/<p>/…"
        )
    return (parts.netloc if local else None), location


def enqueue_conversion(queue: TaskQueue, conversion_id: int, generation: int) -> bool:
    """Enqueue this conversion. False when this generation of it is on the queue already.

    It comes to `functions/convert_worker/main.py`.
    The task's name has the generation. The queue refuses the same name again, also up to 24 h after the task is done:
    a new try of the same conversion needs a higher generation.
    Raises TaskQueueUnavailable within about 3 s for any fault of the queue.
    """
    body = {"job": CONVERSION_JOB, "conversion_id": conversion_id}
    return _enqueue(queue, f"conversion-{conversion_id}-{generation}", body, None)


def enqueue_notification(queue: TaskQueue, delivery_id: int, generation: int, at: datetime | None = None) -> bool:
    """Ask the queue to deliver this notification, not before `at`; else like `enqueue_conversion`.

    It comes to `extensions/notifications/job.py`.
    """
    body = {"job": NOTIFICATION_JOB, "delivery_id": delivery_id, "generation": generation}
    return _enqueue(queue, f"notification-{delivery_id}-{generation}", body, at)


def _enqueue(queue: TaskQueue, name: str, body: Mapping[str, object], at: datetime | None) -> bool:
    """Enqueue a task of this name. False when it is or recently was on the queue. Raises TaskQueueUnavailable."""
    from google.api_core.exceptions import AlreadyExists, GoogleAPIError  # noqa: PLC0415 - cold start
    from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415 - cold start

    task = _task(queue, name, body, at)
    try:
        _client(queue.address).create_task(
            parent=queue.name,
            task=task,
            timeout=ENQUEUE_TIMEOUT.total_seconds(),
            retry=None,
            metadata=queue.metadata,
        )
    except AlreadyExists:
        return False
    except (GoogleAPIError, GoogleAuthError) as error:
        _log_unavailable(error, task=name)
        raise TaskQueueUnavailable from error
    return True


def queue_is_reachable(queue: TaskQueue) -> bool:
    """Whether the queue exists and answers within a second, for the readiness check. Raises nothing."""
    from google.api_core.exceptions import GoogleAPIError  # noqa: PLC0415 - cold start
    from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415 - cold start

    try:
        _client(queue.address).get_queue(
            name=queue.name, timeout=PROBE_TIMEOUT.total_seconds(), retry=None, metadata=queue.metadata
        )
    except (GoogleAPIError, GoogleAuthError) as error:
        _log_unavailable(error)
        return False
    return True


def _task(queue: TaskQueue, name: str, body: Mapping[str, object], at: datetime | None) -> "Task":
    from google.cloud.tasks_v2.types import HttpMethod, HttpRequest, OidcToken, Task  # noqa: PLC0415
    from google.protobuf.duration_pb2 import Duration  # noqa: PLC0415 - cold start

    deadline = Duration()
    deadline.FromTimedelta(queue.dispatch_deadline)
    return Task(
        name=f"{queue.name}/tasks/{name}",
        dispatch_deadline=deadline,
        schedule_time=at,
        http_request=HttpRequest(
            http_method=HttpMethod.POST,
            url=queue.worker_url + queue.path,
            headers={"Content-Type": "application/json"},
            body=json.dumps(body).encode(),
            oidc_token=OidcToken(service_account_email=queue.service_account, audience=queue.worker_url),
        ),
    )


@lru_cache(maxsize=4)
def _client(address: str | None) -> "CloudTasksClient":
    """One client, and so one channel, per process and address; None is Google's own."""
    from google.cloud.tasks_v2 import CloudTasksClient  # noqa: PLC0415 - cold start

    if address is None:
        return CloudTasksClient()
    import grpc  # noqa: PLC0415 - cold start
    from google.cloud.tasks_v2.services.cloud_tasks.transports import (  # noqa: PLC0415 - cold start
        CloudTasksGrpcTransport,
    )

    channel = grpc.insecure_channel(address, options=CHANNEL_OPTIONS)
    return CloudTasksClient(transport=CloudTasksGrpcTransport(channel=channel))


def _log_unavailable(error: Exception, **fields: str) -> None:
    event(
        "task_queue_unavailable",
        "the task queue did not answer as it should",
        logging.WARNING,
        reason=f"{type(error).__name__}: {error}"[:500],
        **fields,
    )
