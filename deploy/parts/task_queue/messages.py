"""Between rows and the messages of the API."""

from dataclasses import fields
from datetime import timedelta

from google.cloud.tasks_v2.types import Attempt, HttpRequest, Queue, RateLimits, RetryConfig, Task
from google.rpc import code_pb2, status_pb2  # type: ignore[import-untyped] # ships no stubs
from sqlalchemy import RowMapping

from deploy.parts.task_queue.pacing import Pace, burst_size
from deploy.parts.task_queue.retry_rules import RetryPolicy
from deploy.parts.task_queue.validation import MAX_RATE

DEFAULT_CONCURRENT = 1000
# google.rpc.Code says for each code which HTTP status it stands for.
CODE_OF_STATUS: dict[int, int] = {
    400: code_pb2.INVALID_ARGUMENT,
    401: code_pb2.UNAUTHENTICATED,
    403: code_pb2.PERMISSION_DENIED,
    404: code_pb2.NOT_FOUND,
    409: code_pb2.ABORTED,
    429: code_pb2.RESOURCE_EXHAUSTED,
    499: code_pb2.CANCELLED,
    501: code_pb2.UNIMPLEMENTED,
    503: code_pb2.UNAVAILABLE,
    504: code_pb2.DEADLINE_EXCEEDED,
}


def queue_settings(queue: Queue) -> bytes:
    """A queue's limits and retry config with every default written out, for the row."""
    rate = queue.rate_limits.max_dispatches_per_second or MAX_RATE
    limits = RateLimits(
        max_dispatches_per_second=rate,
        max_burst_size=burst_size(rate),
        max_concurrent_dispatches=queue.rate_limits.max_concurrent_dispatches or DEFAULT_CONCURRENT,
    )
    policy = retry_policy(queue.retry_config)
    config = RetryConfig({field.name: getattr(policy, field.name) for field in fields(policy)})
    settings: bytes = Queue.serialize(Queue(rate_limits=limits, retry_config=config))
    return settings


def queue_message(row: RowMapping) -> Queue:
    """The queue as the API answers it."""
    queue: Queue = Queue.deserialize(row["settings"])
    queue.name = row["name"]
    queue.state = Queue.State(Queue.State.PAUSED if row["paused"] else Queue.State.RUNNING)
    if row["purged_at"]:
        queue.purge_time = row["purged_at"]
    return queue


def pace(settings: bytes) -> Pace:
    """A full bucket with a queue's limits."""
    limits = Queue.deserialize(settings).rate_limits
    return Pace(limits.max_dispatches_per_second, limits.max_burst_size, limits.max_concurrent_dispatches)


def retry_policy(config: RetryConfig) -> RetryPolicy:
    """The policy that a retry config asks for; what it leaves out (or zero) is the default."""
    default = RetryPolicy()
    return RetryPolicy(
        max_attempts=config.max_attempts or default.max_attempts,
        max_retry_duration=_timedelta(config, "max_retry_duration") or default.max_retry_duration,
        min_backoff=_timedelta(config, "min_backoff") or default.min_backoff,
        max_backoff=_timedelta(config, "max_backoff") or default.max_backoff,
        max_doublings=config.max_doublings or default.max_doublings,
    )


def _timedelta(config: RetryConfig, field: str) -> timedelta:
    """A duration of the message; its stubs say Duration, the library gives a timedelta."""
    value: timedelta = getattr(config, field)
    return value


def effective_policy(queue: bytes, retry_config: bytes | None) -> RetryPolicy:
    """The policy in force: the task's own retry config, else its queue's."""
    config = RetryConfig.deserialize(retry_config) if retry_config else Queue.deserialize(queue).retry_config
    return retry_policy(config)


def task_message(row: RowMapping, view: Task.View) -> Task:
    """The task as the API answers it: with its body only in the FULL view."""
    full = view == Task.View.FULL
    request = HttpRequest.deserialize(row["http_request"])
    if not full:
        request.body = b""
    task = Task(
        name=f"{row['queue']}/tasks/{row['task_id']}",
        http_request=request,
        schedule_time=row["scheduled_at"],
        create_time=row["created_at"].replace(microsecond=0),
        dispatch_deadline=timedelta(milliseconds=row["dispatch_deadline_ms"]),
        dispatch_count=row["dispatch_count"],
        response_count=row["response_count"],
        view=Task.View.FULL if full else Task.View.BASIC,
    )
    if row["retry_config"]:
        task.retry_config = RetryConfig.deserialize(row["retry_config"])
    if row["first_dispatched_at"]:
        task.first_attempt = Attempt(dispatch_time=row["first_dispatched_at"])
        task.last_attempt = _last_attempt(row)
    return task


def _last_attempt(row: RowMapping) -> Attempt:
    attempt = Attempt(schedule_time=row["last_scheduled_at"], dispatch_time=row["last_dispatched_at"])
    if row["last_responded_at"]:
        attempt.response_time = row["last_responded_at"]
    if row["dispatcher"] is None:
        code = _code(row["last_http_status"])
        attempt.response_status = status_pb2.Status(code=code, message=row["last_failure"] or "")
    return attempt


def _code(status: int | None) -> int:
    """The status code for an HTTP status; None, no answer, is UNAVAILABLE."""
    if status is None:
        return int(code_pb2.UNAVAILABLE)
    other: int = code_pb2.INTERNAL if status >= 500 else code_pb2.FAILED_PRECONDITION
    return CODE_OF_STATUS.get(status, other)
