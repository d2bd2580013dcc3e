"""Deliver due tasks to their workers. An advisory lock on the dispatcher's connection allows one per database.

Claims run on the same connection, so a claim fails when the lock is lost. When a dispatcher takes the lock, it releases
tasks that a dead process had claimed (kill -9). They are delivered again: at least once, as in the cloud.
"""

import logging
import threading
import time
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta

from google.cloud.tasks_v2.types import Queue
from sqlalchemy import Connection, Engine, RowMapping

from deploy.parts.task_queue import messages, retry_rules, store
from deploy.parts.task_queue.delivery import Identity, Outcome, attempt
from deploy.parts.task_queue.pacing import Pace
from deploy.parts.task_queue.retry_rules import RetryPolicy
from shared.postgres.door import database_now, is_away, said_by_postgres, transaction
from shared.structured_log import Outage, event, failure

LONGEST_WAIT_SECONDS = 5.0  # then look for changes by other processes; our own service wakes the dispatcher
DATABASE_RETRY_SECONDS = 0.5
LOCK_RETRY_SECONDS = 0.2
SWEEP_PERIOD_SECONDS = 60.0
HEALTHY_WITHIN_SECONDS = 15.0


class Dispatcher:
    """Claims due tasks and delivers each in a thread of its own."""

    def __init__(self, engine: Engine, identity: Identity, queues: Mapping[str, Queue]) -> None:
        """`queues` are given by full name."""
        self._engine = engine
        self._identity = identity
        self._me = uuid.uuid4().hex
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._under_way: dict[tuple[int, int], str] = {}  # (task's id, its attempt) → queue
        self._paces = {name: messages.pace(queue) for name, queue in queues.items()}
        self._policies = {name: messages.retry_policy(queue) for name, queue in queues.items()}
        self._next_sweep = 0.0
        self._last_pass: float | None = None
        self._database = Outage("database")

    def wake(self) -> None:
        """Look for due tasks now."""
        self._wake.set()

    def stop(self, grace: timedelta) -> None:
        """Stop claiming, and wait up to `grace` for deliveries. The others are delivered again after the next start."""
        self._stopping.set()
        until = time.monotonic() + grace.total_seconds()
        while self._under_way and time.monotonic() < until:
            self._wake.clear()  # each finished delivery sets it
            self._wake.wait(0.1)

    def is_healthy(self) -> bool:
        """Whether it looked for due tasks lately, with the lock held."""
        return self._last_pass is not None and time.monotonic() - self._last_pass < HEALTHY_WITHIN_SECONDS

    def run(self) -> None:
        """Work until stopped. While the database is away, retry."""
        while not self._stopping.is_set():
            try:
                with self._engine.connect() as connection:
                    connection.detach()  # closed at the end, not returned to the pool, which would keep the lock
                    self._lead(connection)
            except Exception as error:  # noqa: BLE001 - after any fault delivery goes on
                self._lost_database(error, "task_dispatcher_interrupted", "the dispatcher was interrupted; it goes on")
                self._stopping.wait(DATABASE_RETRY_SECONDS)

    def _lost_database(self, error: Exception, name: str, message: str) -> None:
        """Log an outage of the database once, and every other fault in full."""
        if is_away(error):
            self._database.began(error, **said_by_postgres(error))
        else:
            failure(name, message)

    def _lead(self, connection: Connection) -> None:
        if not self._become_the_only_one(connection):
            return
        with connection.begin():
            released = store.release_abandoned(connection, self._me, [key[0] for key in list(self._under_way)])
        self._database.over()
        event("task_dispatcher_started", "delivering tasks", released=released)
        while not self._stopping.is_set():
            self._wake.clear()
            wait = self._pass(connection)
            self._last_pass = time.monotonic()
            self._wake.wait(wait)

    def _become_the_only_one(self, connection: Connection) -> bool:
        """Wait for the lock. False when stopped meanwhile."""
        waiting = False
        while not self._stopping.is_set():
            with connection.begin():
                if store.try_dispatcher_lock(connection):
                    return True
            if not waiting:
                event("task_dispatcher_waiting", "another task emulator delivers from this database")
                waiting = True
            self._stopping.wait(LOCK_RETRY_SECONDS)
        return False

    def _pass(self, connection: Connection) -> float:
        """Dispatch the tasks that are due and allowed. Returns the seconds until the next look."""
        with connection.begin():
            now = database_now(connection)
            self._sweep(connection, now)
            found = [self._claim(connection, name, pace, now) for name, pace in self._paces.items()]
        for claimed, _ in found:
            for task in claimed:
                self._start(task)
        return min([wait for _, wait in found], default=LONGEST_WAIT_SECONDS)

    def _claim(self, connection: Connection, queue: str, pace: Pace, now: datetime) -> tuple[list[RowMapping], float]:
        """Claim the tasks of one queue to dispatch now. Returns them, and the seconds until the next may be due."""
        under_way = sum(name == queue for name in list(self._under_way.values()))
        room = pace.room(time.monotonic(), under_way)
        claimed = list(store.claim_due(connection, queue, self._me, room, now)) if room else []
        pace.take(len(claimed))
        if under_way + len(claimed) >= pace.concurrent:
            return claimed, LONGEST_WAIT_SECONDS  # the end of a delivery wakes the dispatcher
        due = store.next_due(connection, queue)
        seconds = (due - now).total_seconds() if due else LONGEST_WAIT_SECONDS
        return claimed, min(LONGEST_WAIT_SECONDS, max(seconds, pace.seconds_to_token(), 0.0))

    def _sweep(self, connection: Connection, now: datetime) -> None:
        if time.monotonic() >= self._next_sweep:
            store.forget_tombstones(connection, now)
            self._next_sweep = time.monotonic() + SWEEP_PERIOD_SECONDS

    def _start(self, task: RowMapping) -> None:
        with self._lock:
            self._under_way[task["id"], task["dispatch_count"]] = task["queue"]
        # A daemon thread: a delivery of up to 30 minutes must not delay the exit.
        threading.Thread(target=self._deliver, args=(task,), daemon=True).start()

    def _deliver(self, task: RowMapping) -> None:
        try:
            began = time.monotonic()
            outcome = self._attempt(task)
            _log_attempt(task, outcome, time.monotonic() - began)
            self._record(task, outcome)
        finally:
            with self._lock:
                del self._under_way[task["id"], task["dispatch_count"]]
            self._wake.set()

    def _attempt(self, task: RowMapping) -> Outcome:
        try:
            return attempt(task, self._identity)
        except Exception:  # noqa: BLE001 - after a fault of ours the task is retried, not lost
            failure("task_attempt_failed", "a task could not be delivered", task=task["task_id"])
            return Outcome(None, "INTERNAL: the queue could not deliver the task")

    def _record(self, task: RowMapping, outcome: Outcome) -> None:
        """Record the outcome; retry while the database is away. After a stop the task is delivered again."""
        while True:
            try:
                with transaction(self._engine) as connection:
                    _settle(connection, task, self._policies[task["queue"]], outcome)
            except Exception as error:  # noqa: BLE001 - an outcome is never dropped
                self._lost_database(error, "task_outcome_delayed", "an outcome cannot be recorded; trying again")
                if self._stopping.wait(DATABASE_RETRY_SECONDS):
                    return
            else:
                return


def _settle(connection: Connection, task: RowMapping, policy: RetryPolicy, outcome: Outcome) -> None:
    """Finish the task after a 2xx or at the end of its retention; otherwise schedule the retry."""
    now = database_now(connection)
    if outcome.succeeded:
        store.finish(connection, task, now)
        return
    asked = retry_rules.retry_after(outcome.status, outcome.retry_after, now)
    due = retry_rules.next_attempt(policy, task["dispatch_count"], task["created_at"], now, asked)
    if due is None:
        store.finish(connection, task, now)
        event("task_given_up", "a task failed until the end of its retention", logging.ERROR, task=task["task_id"])
    else:
        store.reschedule(connection, task, due, now, outcome.status, outcome.failure)


def _log_attempt(task: RowMapping, outcome: Outcome, seconds: float) -> None:
    event(
        "task_attempt",
        "a task was delivered" if outcome.succeeded else "a delivery failed",
        logging.INFO if outcome.succeeded else logging.WARNING,
        queue=task["queue"].rpartition("/")[2],
        task=task["task_id"],
        attempt=task["dispatch_count"],
        status=outcome.status,
        failure=outcome.failure,
        duration_ms=round(seconds * 1000),
    )
