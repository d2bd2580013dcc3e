"""What the steps of a tick share: the services they use, the moment of the tick, and what an extension adds to it."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from flask import Request
from msgspec import Struct
from sqlalchemy import Connection, Engine

from shared.commands.rules import Timings
from shared.config import Config
from shared.outside.mqtt import Publisher
from shared.outside.task_queue import TaskQueue
from shared.overview.rules import is_scheduler_late

ENQUEUE_BUDGET: Final = timedelta(seconds=10)

Did = Mapping[str, Any]
"""The counts of a step, as JSON values for people."""


class World(Struct, frozen=True):
    """The settings and services that a tick uses."""

    config: Config
    engine: Engine
    publisher: Publisher
    queue: TaskQueue
    timings: Timings


class Moment(Struct, frozen=True):
    """When this tick began, and the last one (None: there was none), by the database's clock."""

    now: datetime
    last_tick_at: datetime | None

    @property
    def is_late(self) -> bool:
        """Whether this tick comes so late after the last one that it sends no command."""
        return self.last_tick_at is not None and is_scheduler_late(self.last_tick_at, self.now)

    @property
    def clock_was_set_back(self) -> bool:
        """Whether the last tick lies in the future."""
        return self.last_tick_at is not None and self.last_tick_at > self.now

    def opens_an_hour(self) -> bool:
        """Whether this is the first tick of its hour, in UTC: retention runs once an hour."""
        return self.last_tick_at is None or _hour_of(self.last_tick_at) != _hour_of(self.now)


def _hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


Step = Callable[[World, Moment], Did]
Job = Callable[[Request], str | None]
"""Does a job of the task queue. Returns its outcome; None when the queue must ask again."""


class TickPart(Struct, frozen=True, kw_only=True):
    """What an extension adds to the tick, as `PART` of its module `tick`."""

    steps: Mapping[str, Step] = {}
    before: str = "retention"
    """The kernel's step before which these steps run."""
    sends: frozenset[str] = frozenset()
    """Those of the steps that send commands: a late tick leaves them out."""
    forget_the_future: Callable[[Connection, datetime], object] | None = None
    """Set back what lies after this moment, because the database's clock was set back."""
    drop_history: Mapping[str, Callable[[Connection, Moment, datetime], int]] = {}
    """Delete rows beyond their retention; the time is that of HISTORY_RETENTION_DAYS. Returns how many."""
    jobs: Callable[[World], Mapping[str, Job]] | None = None
    """The jobs of the task queue, by path."""


def enqueue_some(tasks: Sequence[tuple[int, int]], enqueue: Callable[[int, int], bool]) -> int:
    """Enqueue tasks, given by (id, generation), until ENQUEUE_BUDGET is spent. Returns how many were enqueued.

    A later tick finds the rest.
    """
    until = time.monotonic() + ENQUEUE_BUDGET.total_seconds()
    enqueued = 0
    for row_id, generation in tasks:
        if time.monotonic() > until:
            break
        enqueued += enqueue(row_id, generation)
    return enqueued
