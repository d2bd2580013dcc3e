"""Convert between the messages of the API and the dispatcher's rules."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from google.cloud.tasks_v2.types import HttpRequest, Queue, Task
from sqlalchemy import RowMapping

from deploy.parts.task_queue.pacing import Pace, burst_size
from deploy.parts.task_queue.retry_rules import RetryPolicy


def named(location: str, queues_by_id: Mapping[str, Queue]) -> dict[str, Queue]:
    """Each queue by its full name, as the API answers it."""
    made = {}
    for queue_id, queue in queues_by_id.items():
        name = f"{location}/queues/{queue_id}"
        limits, retry = queue.rate_limits, queue.retry_config
        made[name] = Queue(name=name, state=Queue.State.RUNNING, rate_limits=limits, retry_config=retry)
    return made


def pace(queue: Queue) -> Pace:
    """A queue's rate limits, with a full token bucket."""
    limits = queue.rate_limits
    rate = limits.max_dispatches_per_second
    return Pace(rate, burst_size(rate), limits.max_concurrent_dispatches)


def retry_policy(queue: Queue) -> RetryPolicy:
    """A queue's policy of retries."""
    config: Any = queue.retry_config  # the stubs say Duration, the library gives a timedelta
    return RetryPolicy(config.min_backoff, config.max_backoff, config.max_doublings)


def task_message(row: RowMapping) -> Task:
    """A new task as the API answers it: the basic view, without the body."""
    request = HttpRequest.deserialize(row["http_request"])
    request.body = b""
    return Task(
        name=f"{row['queue']}/tasks/{row['task_id']}",
        http_request=request,
        schedule_time=row["scheduled_at"],
        create_time=row["created_at"].replace(microsecond=0),
        dispatch_deadline=timedelta(milliseconds=row["dispatch_deadline_ms"]),
        view=Task.View.BASIC,
    )
