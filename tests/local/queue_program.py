"""`python -m tests.local.queue_program`: the task queue as shipped, with more queues than the product has."""

import sys
from datetime import timedelta
from typing import Final

from google.cloud.tasks_v2.types import Queue, RateLimits, RetryConfig

from deploy.parts.task_queue.__main__ import main, queues

HOUR: Final = timedelta(hours=1)


def queue(
    shortest: timedelta, longest: timedelta, doublings: int = 1, *, rate: float = 500, at_once: int = 1000
) -> Queue:
    """Return a queue with these waits and limits."""
    return Queue(
        rate_limits=RateLimits(max_dispatches_per_second=rate, max_concurrent_dispatches=at_once),
        retry_config=RetryConfig(max_attempts=-1, min_backoff=shortest, max_backoff=longest, max_doublings=doublings),
    )


def milliseconds(number: int) -> timedelta:
    return timedelta(milliseconds=number)


QUICK: Final = (milliseconds(20), milliseconds(50))
QUEUES: Final = {
    "quick": queue(*QUICK),
    "held": queue(*QUICK, at_once=0),  # delivers nothing: its tasks stay unchanged
    "two-at-once": queue(*QUICK, at_once=2),
    "ten-a-second": queue(*QUICK, rate=10),
    "growing": queue(milliseconds(100), milliseconds(350)),
    "hourly": queue(HOUR, HOUR),
}

if __name__ == "__main__":
    sys.exit(main(lambda at_once: {**queues(at_once), **QUEUES}))
