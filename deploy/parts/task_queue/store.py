"""SQL of the emulator: each function is one statement. Times are the `now` of the caller's transaction."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import insert

from deploy.parts.task_queue.schema import DISPATCHER_LOCK, tasks

TOMBSTONE = timedelta(hours=24)
_waiting = tasks.c.gone_at.is_(None) & tasks.c.dispatcher.is_(None)


def insert_task(
    connection: Connection,
    queue: str,
    task_id: str,
    http_request: bytes,
    dispatch_deadline_ms: int,
    scheduled_at: datetime,
    now: datetime,
) -> RowMapping | None:
    """Insert a task. Returns it; None when its name is taken, or was taken within the last 24 h."""
    values = {
        "queue": queue,
        "task_id": task_id,
        "http_request": http_request,
        "dispatch_deadline_ms": dispatch_deadline_ms,
        "created_at": now,
        "scheduled_at": scheduled_at,
        **_untried(),
    }
    statement = insert(tasks).values(values)
    statement = statement.on_conflict_do_update(
        index_elements=["queue", "task_id"], set_=values, where=tasks.c.gone_at <= now - TOMBSTONE
    )
    return connection.execute(statement.returning(tasks)).mappings().one_or_none()


def _untried() -> dict[str, Any]:
    names = ["gone_at", "dispatcher", "first_dispatched_at", "last_scheduled_at", "last_dispatched_at"]
    names += ["last_responded_at", "last_http_status", "last_failure"]
    counts = {"dispatch_count": 0, "response_count": 0, "execution_count": 0}
    return {**dict.fromkeys(names), **counts}


def _buried(now: datetime) -> dict[str, Any]:
    """The values of a tombstone, which keeps the task's name but not its content."""
    return {"gone_at": now, "dispatcher": None, "http_request": b""}


def claim_due(connection: Connection, queue: str, dispatcher: str, limit: int, now: datetime) -> Sequence[RowMapping]:
    """Claim up to `limit` due tasks of a queue for `dispatcher`. Returns them, the longest due first."""
    due = (
        sa.select(tasks.c.id)
        .where(tasks.c.queue == queue, _waiting, tasks.c.scheduled_at <= now)
        .order_by(tasks.c.scheduled_at, tasks.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    statement = (
        sa.update(tasks)
        .where(tasks.c.id.in_(due))
        .values(
            dispatcher=dispatcher,
            dispatch_count=tasks.c.dispatch_count + 1,
            first_dispatched_at=sa.func.coalesce(tasks.c.first_dispatched_at, now),
            last_scheduled_at=tasks.c.scheduled_at,
            last_dispatched_at=now,
            last_responded_at=None,
        )
    )
    rows = connection.execute(statement.returning(tasks)).mappings().all()
    return sorted(rows, key=lambda row: (row["last_scheduled_at"], row["id"]))


def next_due(connection: Connection, queue: str) -> datetime | None:
    """When the next waiting task of a queue is due; None when none waits."""
    statement = sa.select(sa.func.min(tasks.c.scheduled_at)).where(tasks.c.queue == queue, _waiting)
    due: datetime | None = connection.execute(statement).scalar_one()
    return due


def finish(connection: Connection, claimed: RowMapping, now: datetime) -> bool:
    """Finish a task that this attempt completed or gave up; False when another attempt has the task."""
    statement = sa.update(tasks).where(*_current(claimed)).values(_buried(now))
    return connection.execute(statement).rowcount == 1


def reschedule(
    connection: Connection,
    claimed: RowMapping,
    due: datetime,
    now: datetime,
    status: int | None,
    failure: str,
) -> bool:
    """Reschedule a task after a failed attempt; `status` None: no answer. False when another attempt has the task."""
    answered = status is not None
    executed = status is not None and status < 500
    statement = (
        sa.update(tasks)
        .where(*_current(claimed))
        .values(
            dispatcher=None,
            scheduled_at=due,
            response_count=tasks.c.response_count + int(answered),
            execution_count=tasks.c.execution_count + int(executed),
            last_responded_at=now if answered else None,
            last_http_status=status,
            last_failure=failure,
        )
    )
    return connection.execute(statement).rowcount == 1


def _current(claimed: RowMapping) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that this attempt still has the task: only then may it write its outcome."""
    return (
        tasks.c.id == claimed["id"],
        tasks.c.dispatcher == claimed["dispatcher"],
        tasks.c.dispatch_count == claimed["dispatch_count"],
    )


def release_abandoned(connection: Connection, dispatcher: str, under_way: Sequence[int]) -> int:
    """Release all claimed tasks except `dispatcher`'s own ids `under_way`. Returns how many."""
    mine = (tasks.c.dispatcher == dispatcher) & tasks.c.id.in_(under_way)
    statement = sa.update(tasks).where(tasks.c.dispatcher.is_not(None), ~mine).values(dispatcher=None)
    return connection.execute(statement).rowcount


def forget_tombstones(connection: Connection, now: datetime) -> int:
    """Delete tombstones older than 24 h, which frees their names. Returns how many."""
    return connection.execute(sa.delete(tasks).where(tasks.c.gone_at <= now - TOMBSTONE)).rowcount


def try_dispatcher_lock(connection: Connection) -> bool:
    """Try to become the dispatcher of this database, for the life of the connection."""
    taken: bool = connection.execute(sa.select(sa.func.pg_try_advisory_lock(DISPATCHER_LOCK))).scalar_one()
    return taken
