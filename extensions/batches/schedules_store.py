"""SQL of schedules. A schedule changes under a lock of its row; what became of each of its times is decided once."""

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import asdict
from sqlalchemy import Connection

from extensions.batches.schedules_rules import KeptSchedule, ScheduleRun, WantedSchedule, When
from extensions.batches.store import KNOWN
from shared.clients.store import matches
from shared.postgres import query
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.fragments import END_OF_TIME, MAKERS, NOW, is_at_site_of, made, may_send
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query, columns
from shared.vocabulary import BatchState, ScheduleOutcome


class ShownRun(ScheduleRun, frozen=True):
    """What became of one time, with the present state of its batch."""

    batch_state: BatchState | None = None


IS_LIVE: Final = "s.next_at IS NOT NULL AND s.cancelled_at IS NULL"
OWN: Final = """s.id, s.action, s.reason, s.filter, s.waves, s.max_unproven, s.ttl_seconds, s.time_zone, s.at,
    s.weekdays, s.local_time, s.until, s.next_at, s.created_by, s.created_at, s.cancelled_at,
    s.cancelled_by"""
SCHEDULE: Final = f"""
    SELECT {OWN}, (SELECT count(*) FROM command_schedule_clients AS n WHERE n.schedule_id = s.id) AS named,
        l.due_at AS last_due_at, l.outcome AS last_outcome, l.why AS last_why,
        l.batch_id AS last_batch_id, b.state AS last_batch_state, b.state_reason AS last_batch_reason
    FROM command_schedules AS s
    LEFT JOIN LATERAL (SELECT r.due_at, r.outcome, r.why, r.batch_id FROM command_schedule_runs AS r
        WHERE r.schedule_id = s.id ORDER BY r.due_at DESC LIMIT 1) AS l ON true
    LEFT JOIN command_batches AS b ON b.id = l.batch_id"""
LOCK = Query("SELECT id FROM command_schedules WHERE id = :id FOR UPDATE", str)


@query.one_or_none(f"{SCHEDULE} WHERE s.id = :schedule_id")
def get(connection: Connection, schedule_id: str) -> KeptSchedule | None:
    """One schedule, or None."""


def lock(connection: Connection, schedule_id: str) -> KeptSchedule | None:
    """One schedule, its row locked until the transaction ends; None when there is none."""
    if LOCK.one_or_none(connection, id=schedule_id) is None:
        return None
    return get(connection, schedule_id)


@query.one(f"SELECT count(*) FROM public.command_schedules AS s WHERE {IS_LIVE}")
def count_live(connection: Connection) -> int:
    """How many schedules of the whole fleet have a next time, also where the caller sees chosen sites only."""


INSERT = Query(
    """
    INSERT INTO command_schedules (id, action, reason, filter, waves, max_unproven, ttl_seconds, time_zone, at,
        weekdays, local_time, until, next_at, created_by, created_at)
    VALUES (:id, :action, :reason, CAST(:filter AS jsonb), CAST(:waves AS jsonb), :max_unproven, :ttl_seconds,
        :time_zone, :at, CAST(:weekdays AS text[]), :local_time, :until, :next_at, :created_by, :now)
    """,
    NO_ROW,
)


def insert(
    connection: Connection,
    now: datetime,
    schedule_id: str,
    wanted: WantedSchedule,
    when: When,
    next_at: datetime | None,
) -> None:
    """Add a schedule without clients, with these checked times."""
    asked, ttl = wanted.request, wanted.request.ttl
    values = {
        "id": schedule_id,
        "action": asked.action,
        "reason": asked.reason,
        "filter": None if asked.filter is None else json.dumps(asked.filter),
        "waves": json.dumps(asked.waves),
        "max_unproven": str(asked.max_unproven),
        "ttl_seconds": None if ttl is None else int(ttl.total_seconds()),
        "created_by": asked.requested_by,
    }
    times = asdict(when) | {"weekdays": list(when.weekdays)}
    INSERT.run(connection, now=now, next_at=next_at, **values, **times)


@query.rows(
    """
    INSERT INTO command_schedule_clients (schedule_id, client_uuid, position)
    SELECT CAST(:schedule_id AS text), c.uuid, n.position
    FROM unnest(CAST(:uuids AS text[])) WITH ORDINALITY AS n (uuid, position)
    JOIN clients AS c ON c.uuid = n.uuid AND c.deleted_at IS NULL
    RETURNING client_uuid
    """
)
def name_clients(connection: Connection, schedule_id: str, uuids: Sequence[str]) -> set[str]:
    """Add clients to a schedule, in this order. Returns the uuids that exist."""


@query.rows("SELECT client_uuid FROM command_schedule_clients WHERE schedule_id = :schedule_id ORDER BY position")
def clients(connection: Connection, schedule_id: str) -> list[str]:
    """The uuids that a schedule names, in the order of the request."""


WRITE = Query(
    """
    UPDATE command_schedules SET reason = :reason, waves = CAST(:waves AS jsonb), max_unproven = :max_unproven,
        time_zone = :time_zone, at = :at, weekdays = CAST(:weekdays AS text[]), local_time = :local_time,
        until = :until, next_at = :next_at
    WHERE id = :id
    """,
    NO_ROW,
)


def write(connection: Connection, changed: KeptSchedule) -> None:
    """Write what a person may change of a schedule whose row is locked."""
    WRITE.run(connection, **asdict(changed) | {"waves": json.dumps(changed.waves)})


@query.run("UPDATE command_schedules SET cancelled_at = :now, cancelled_by = :by WHERE id = :schedule_id")
def cancel(connection: Connection, now: datetime, schedule_id: str, by: str) -> None:
    """Cancel a schedule whose row is locked."""


LOCK_DUE = Query(
    """
    SELECT s.id FROM command_schedules AS s
    WHERE s.id = :id AND s.next_at <= :now AND s.cancelled_at IS NULL FOR UPDATE SKIP LOCKED
    """,
    str,
)


@query.rows(
    f"""
    SELECT s.id FROM command_schedules AS s
    WHERE s.next_at <= :now AND s.cancelled_at IS NULL AND s.action IN ({KNOWN}) ORDER BY s.next_at, s.id
    """
)
def due(connection: Connection, now: datetime) -> list[str]:
    """The ids of the schedules whose time has come, the longest ago first; without actions of later code."""


def lock_due(connection: Connection, now: datetime, schedule_id: str) -> KeptSchedule | None:
    """One schedule, locked; None when its time has not come, it was cancelled, or another process has it now."""
    if LOCK_DUE.one_or_none(connection, now=now, id=schedule_id) is None:
        return None
    return get(connection, schedule_id)


@query.rows(
    """
    SELECT due_at FROM command_schedule_runs
    WHERE schedule_id = :schedule_id AND due_at = ANY(CAST(:times AS timestamptz[]))
    """
)
def decided(connection: Connection, schedule_id: str, times: Collection[datetime]) -> set[datetime]:
    """Of these times those that are decided already."""


RUNS: Final = ManyRows("run", ScheduleRun)


@query.run(
    f"""
    INSERT INTO command_schedule_runs (schedule_id, due_at, outcome, why, batch_id)
    SELECT :schedule_id, run.due_at, run.outcome, run.why, run.batch_id FROM {RUNS}
    ON CONFLICT DO NOTHING
    """,
    RUNS,
)
def insert_runs(connection: Connection, schedule_id: str, runs: Collection[ScheduleRun]) -> None:
    """Write what became of these times; a time that is decided stays as it is."""


@query.run("UPDATE command_schedules SET next_at = :next_at WHERE id = :schedule_id")
def move_on(connection: Connection, schedule_id: str, next_at: datetime | None) -> None:
    """Write the next time of a schedule whose row is locked."""


PAGE = Query(
    f"""
    {SCHEDULE}
    WHERE (CAST(:current AS boolean) IS NULL OR ({IS_LIVE}) = :current) AND (s.created_at, s.id) < (:before, :before_id)
    ORDER BY s.created_at DESC, s.id DESC LIMIT :limit {FOR_ITS_VALUES}
    """,
    KeptSchedule,
)


def page(
    connection: Connection, current: bool | None, limit: int, after: tuple[datetime, str] | None
) -> list[KeptSchedule]:
    """Up to `limit` schedules, the newest first, after the pair (created_at, id). `current`: with a next time."""
    before, before_id = after or (END_OF_TIME, "")
    return PAGE.all(connection, current=current, before=before, before_id=before_id, limit=limit)


@query.rows(
    f"""
    {SCHEDULE} CROSS JOIN LATERAL (SELECT s.filter ->> 'status' AS status, s.filter ->> 'site' AS site,
        s.filter ->> 'tag' AS tag, s.filter ->> 'version' AS version,
        '%' || regexp_replace(s.filter ->> 'q', '([\\\\%_])', '\\\\\\1', 'g') || '%' AS text,
        CAST(s.filter ->> 'stale' AS boolean) AS stale,
        CAST(s.filter ->> 'service_failed' AS boolean) AS service_failed,
        CAST(s.filter ->> 'screen_failed' AS boolean) AS screen_failed) AS w
    JOIN clients AS c ON c.uuid = :uuid
    WHERE {IS_LIVE} AND CASE WHEN s.filter IS NOT NULL THEN {matches("w.")}
        ELSE EXISTS (
            SELECT FROM command_schedule_clients AS n WHERE n.schedule_id = s.id AND n.client_uuid = c.uuid) END
        AND EXISTS (SELECT FROM {MAKERS} AS maker WHERE {made("maker", "s.created_by", "s.created_at")}
            AND {may_send("maker", "s.action")} AND {is_at_site_of("maker", "c")})
    ORDER BY s.next_at, s.id LIMIT CAST(:most AS int)
    """
)
def of_client(connection: Connection, uuid: str, most: int) -> list[KeptSchedule]:
    """Up to `most` schedules with a next time that name this client, or whose filter it matches now; the next first.

    Without those that would miss it, because their maker may not send it a command any more.
    """


RUNS_PAGE = Query(
    f"""
    SELECT {columns(ScheduleRun, "r")}, b.state AS batch_state
    FROM command_schedule_runs AS r LEFT JOIN command_batches AS b ON b.id = r.batch_id
    WHERE r.schedule_id = :id AND r.due_at < :before ORDER BY r.due_at DESC LIMIT CAST(:most AS int)
    """,
    ShownRun,
)


def runs(connection: Connection, schedule_id: str, limit: int, before: datetime | None = None) -> list[ShownRun]:
    """Up to `limit` times that came before `before`, the latest first."""
    return RUNS_PAGE.all(connection, id=schedule_id, before=before or END_OF_TIME, most=limit)


@query.run(
    f"""
    DELETE FROM command_schedule_runs WHERE outcome = '{ScheduleOutcome.MISSED}' AND due_at > {NOW}
    """
)
def forget_missed(connection: Connection, now: datetime) -> int:
    """Forget that times in the future were missed. Returns how many."""


@query.rows(
    f"""
    SELECT s.id FROM command_schedules AS s
    WHERE s.cancelled_at IS NULL AND coalesce(s.next_at > {NOW}, s.at > {NOW} OR s.local_time IS NOT NULL)
        AND s.action IN ({KNOWN}) ORDER BY s.id FOR UPDATE
    """
)
def ahead(connection: Connection, now: datetime) -> list[str]:
    """The ids of the schedules whose next time may lie further ahead than it should; their rows are locked."""


DROP_RUNS = Query("DELETE FROM command_schedule_runs WHERE due_at < :before", NO_ROW)
DROP_SCHEDULES = Query(
    """
    DELETE FROM command_schedules AS s
    WHERE s.created_at < :before AND (s.cancelled_at < :before OR s.cancelled_at IS NULL AND s.next_at IS NULL)
        AND NOT EXISTS (SELECT FROM command_schedule_runs AS r WHERE r.schedule_id = s.id)
    """,
    NO_ROW,
)


def drop_history(connection: Connection, before: datetime) -> int:
    """Delete times that came before `before`, and schedules that were over by then. Returns how many schedules."""
    DROP_RUNS.run(connection, before=before)
    return DROP_SCHEDULES.run(connection, before=before)
