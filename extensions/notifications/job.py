"""Deliver one notification, called by the task queue.

    POST /deliveries {"job": "deliver_notification", "delivery_id": 7, "generation": 1}, with the queue's token

When a receiver fails, the row stores the time of the retry and a new task is enqueued for that time. An answer of 5xx
would slow down the whole queue because of one receiver. 200: the outcome is stored. 503: nothing is stored, or another
request is delivering; the queue must retry the task.
"""

import time
from datetime import timedelta
from typing import Final

from flask import Request
from msgspec import Struct
from sqlalchemy import Engine

from extensions.notifications.deliveries import operations
from extensions.notifications.deliveries.operations import Errand, Next
from functions.jobs import is_number, read_job
from functions.problems import BadJob
from shared.config import Config
from shared.errors import TaskQueueUnavailable
from shared.outside import couriers
from shared.outside.couriers.addresses import Reach
from shared.outside.couriers.letters import DeliveryAttempt
from shared.outside.task_queue import NOTIFICATION_JOB, NOTIFICATIONS_QUEUE_ID, TaskQueue, enqueue_notification
from shared.postgres.door import database_now, transaction
from shared.structured_log import event
from shared.words.reader import english

PATH: Final = "/deliveries"
DEADLINE: Final = timedelta(seconds=60)  # the task's timeout: longer than any courier takes


class PostOffice(Struct, frozen=True):
    """The services that a delivery uses."""

    engine: Engine
    queue: TaskQueue
    reach: Reach


def queue_of(config: Config) -> TaskQueue:
    """The queue whose tasks call this function to deliver notifications."""
    account = config["TASKS_SERVICE_ACCOUNT"]
    to_us = {"queue_id": NOTIFICATIONS_QUEUE_ID, "path": PATH, "secret": config["QUEUE_SECRET"]}
    return TaskQueue(config["QUEUE_URL"], config["SCHEDULER_TICK_URL"], account, DEADLINE, **to_us)


def read_delivery(request: Request) -> tuple[int, int]:
    """The ids of the delivery and of its generation (which try it is). Raises BadJob."""
    body = read_job(request, NOTIFICATION_JOB)
    delivery_id, generation = body.get("delivery_id"), body.get("generation")
    if not is_number(delivery_id, 2**31) or not is_number(generation, 2**31):
        raise BadJob("delivery_id and generation must be numbers of a delivery.")
    return delivery_id, generation


def deliver(office: PostOffice, delivery_id: int, generation: int) -> str | None:
    """Claim the message, send it and record the outcome. Returns the outcome; None when the queue must retry."""
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
    """Enqueue the retry. If that fails, the tick's sweep does it."""
    if after is None or after.generation is None:
        return
    try:
        enqueue_notification(office.queue, errand.delivery_id, after.generation, after.due_at)
    except TaskQueueUnavailable:
        return  # logged where it was raised


def _log(errand: Errand, outcome: DeliveryAttempt, duration_ms: int) -> None:
    event(
        "notification_tried",
        "a notification was tried",
        delivery_id=errand.delivery_id,
        channel_id=errand.channel_id,
        attempt=errand.attempts,
        result=outcome.result.value,
        words=english(outcome.sentence),
        duration_ms=duration_ms,
    )
