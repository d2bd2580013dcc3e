"""Decide when a failed task is retried and when it is given up, like Cloud Tasks."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

TASK_RETENTION = timedelta(days=31)
TOO_MANY_REQUESTS = 429
SERVICE_UNAVAILABLE = 503
LONGEST_RETRY_AFTER = timedelta(hours=1)


@dataclass(frozen=True)
class RetryPolicy:
    """How long a queue waits before it retries a task. It gives up no task before the retention ends."""

    min_backoff: timedelta
    max_backoff: timedelta
    max_doublings: int
    """How often the wait doubles; then it grows linearly."""


def backoff(policy: RetryPolicy, failures: int) -> timedelta:
    """The wait after the `failures`-th failed attempt (1 is the first).

    It starts at min_backoff, doubles max_doublings times, then grows by the last doubled step, and never
    passes max_backoff: 10 s, 3 doublings, 300 s gives 10, 20, 40, 80, 160, 240, 300, 300 …
    """
    doublings = min(failures - 1, policy.max_doublings)
    steps = 1 + max(0, failures - 1 - policy.max_doublings)
    if policy.min_backoff and doublings > 64:  # 2**64 times any wait exceeds every maximum
        return policy.max_backoff
    seconds = policy.min_backoff.total_seconds() * 2**doublings * steps
    return timedelta(seconds=min(seconds, policy.max_backoff.total_seconds()))


def retry_after(status: int | None, value: str | None, now: datetime) -> timedelta:
    """The wait that a 429 or 503 asks for in `Retry-After` (seconds or an HTTP date), an hour at most.

    Zero when there is none or it cannot be read.
    """
    if status not in {TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE} or not value:
        return timedelta(0)
    text = value.strip()
    if text.isascii() and text.isdigit():
        wait = timedelta(seconds=min(int(text[:9]), LONGEST_RETRY_AFTER.total_seconds()))
    else:
        wait = _until_http_date(text, now)
    return max(timedelta(0), min(wait, LONGEST_RETRY_AFTER))


def _until_http_date(text: str, now: datetime) -> timedelta:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return timedelta(0)
    return (date if date.tzinfo else date.replace(tzinfo=UTC)) - now


def next_attempt(
    policy: RetryPolicy, attempts: int, created: datetime, now: datetime, asked_wait: timedelta
) -> datetime | None:
    """When to retry a task that has just failed for the `attempts`-th time; None when it is given up.

    `asked_wait` is the worker's Retry-After; it can lengthen the wait, never shorten it.
    """
    if now - created >= TASK_RETENTION:
        return None
    return now + max(backoff(policy, attempts), asked_wait)
