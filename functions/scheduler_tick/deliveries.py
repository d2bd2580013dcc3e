"""One delivery of a notification, brought by the task queue.

    POST /deliveries {"job": "deliver_notification", "delivery_id": 7, "generation": 1}, with the queue's token

The row decides when a message is tried again, and this asks the queue for just that: an answer of 5xx would slow
the whole queue down because of one receiver. 200 says that all is written down; 503 that nothing is, or that
somebody else is at it, so that the task must come again.
"""

import json
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from flask import Request
from sqlalchemy import Engine

from shared import couriers
from shared.config import Config
from shared.couriers import Outcome
from shared.couriers.addresses import Reach
from shared.db import database_now, transaction
from shared.errors import TaskQueueUnavailable
from shared.notifications.deliveries import operations
from shared.notifications.deliveries.operations import Errand, Next
from shared.structured_log import event
from shared.task_queue import NOTIFICATION_JOB, NOTIFICATIONS_QUEUE_ID, TaskQueue, enqueue_notification

PATH: Final = "/deliveries"
LARGEST_BODY_BYTES: Final = 4096
DEADLINE: Final = timedelta(seconds=60)  # longer than any courier takes


class BadJob(Exception):
    """A request that is no job; the message says what was expected."""


@dataclass(frozen=True)
class PostOffice:
    """What a delivery works with."""

    engine: Engine
    queue: TaskQueue
    reach: Reach


def queue_of(config: Config) -> TaskQueue:
    """The queue that brings messages for people to this function."""
    account = config["TASKS_SERVICE_ACCOUNT"]
    to_us = {"queue_id": NOTIFICATIONS_QUEUE_ID, "path": PATH}
    return TaskQueue(config["QUEUE_URL"], config["SCHEDULER_TICK_URL"], account, DEADLINE, **to_us)


def read_job(request: Request) -> tuple[int, int]:
    """The delivery's id and the generation that is meant. Raises BadJob."""
    if (request.content_length or 0) > LARGEST_BODY_BYTES:
        raise BadJob("The body is too large for a job.")
    try:
        body: Any = json.loads(request.stream.read(LARGEST_BODY_BYTES))
    except (ValueError, RecursionError):
        raise BadJob("The body is no JSON.") from None
    if not isinstance(body, dict) or body.get("job") != NOTIFICATION_JOB:
        raise BadJob(f"The only job known here is {NOTIFICATION_JOB}.")
    numbers = (body.get("delivery_id"), body.get("generation"))
    if not all(isinstance(n, int) and not isinstance(n, bool) and 0 < n < 2**31 for n in numbers):
        raise BadJob("delivery_id and generation must be numbers of a delivery.")
    return int(numbers[0] or 0), int(numbers[1] or 0)


def deliver(office: PostOffice, delivery_id: int, generation: int) -> str | None:
    """Claim the message, send it, record what came of it: what was done, or None where the task must come again."""
    with transaction(office.engine) as connection:
        errand = operations.claim(connection, database_now(connection), delivery_id, generation)
        if errand is None:
            busy = operations.is_in_other_hands(connection, delivery_id, generation)
            return None if busy else "nothing_to_do"
    began = time.monotonic()
    outcome = couriers.send(errand.kind, errand.url, errand.signing_secret, errand.letter, office.reach)
    with transaction(office.engine) as connection:
        after = operations.record(connection, database_now(connection), errand, outcome)
    _log(errand, outcome, round((time.monotonic() - began) * 1000))
    _ask_again(office, errand, after)
    return after.state.value if after else "taken_over"


def _ask_again(office: PostOffice, errand: Errand, after: Next | None) -> None:
    """Put the next try on the queue; where that fails the tick's sweep does it."""
    if after is None or after.generation is None:
        return
    try:
        enqueue_notification(office.queue, errand.delivery_id, after.generation, after.due_at)
    except TaskQueueUnavailable:
        return  # logged where it was raised


def _log(errand: Errand, outcome: Outcome, duration_ms: int) -> None:
    event(
        "notification_tried",
        "a notification was tried",
        delivery_id=errand.delivery_id,
        channel_id=errand.channel_id,
        attempt=errand.attempts,
        result=outcome.result.value,
        words=outcome.words,
        duration_ms=duration_ms,
    )
