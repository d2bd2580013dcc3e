"""Use cases of schedules: make, change, cancel, and do what is due.

At each time of a schedule a batch is made, in the transaction that writes down what became of that time. So it is made
once, whichever process dies and however many ticks run. From then on it is a batch like any other: the lockout of each
client, waves, quiet times and proof are its business.
"""

import time
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import Connection, Engine

from extensions.batches import operations as batches
from extensions.batches import schedules_rules, schedules_store
from extensions.batches import store as batches_store
from extensions.batches.rules import maker_may_not, not_at_makers_sites
from extensions.batches.schedules_rules import KeptSchedule, ScheduleRun, WantedSchedule
from shared.access import operations as access
from shared.access.rules import AuditLine
from shared.clients import operations as clients
from shared.errors import (
    ClientsUnknown,
    NoClients,
    Refused,
    ScheduleNotFound,
    ScheduleOver,
    ServiceError,
    TimeZoneUnknown,
    TooManySchedules,
)
from shared.postgres.door import database_now, scrub, transaction
from shared.quiet import operations as quiet_times
from shared.structured_log import failure
from shared.vocabulary import ScheduleOutcome
from shared.words.sentences import Sentence

MOST_LIVE: Final = 500  # schedules of the whole fleet with a next time
OF_ONE_CLIENT: Final = 100
TIMES: Final = frozenset({"at", "time_zone", *schedules_rules.WEEKLY})


class DueReport(Struct, frozen=True):
    """The result of `make_due`: how many batches were made, how many times were missed, and how many turns failed."""

    made: int = 0
    missed: int = 0
    failed: int = 0


def find(connection: Connection, schedule_id: str) -> KeptSchedule:
    """One schedule. Raises ScheduleNotFound."""
    row = schedules_store.get(connection, schedule_id)
    if row is None:
        raise ScheduleNotFound
    return row


def of_client(connection: Connection, uuid: str) -> list[KeptSchedule]:
    """The schedules with a next time that are about this client now, the next one first. Raises ClientNotFound."""
    return schedules_store.of_client(connection, clients.find(connection, uuid).uuid, OF_ONE_CLIENT)


def covers(connection: Connection, row: KeptSchedule) -> int:
    """How many displays a schedule is for now, at most one more than a batch may have; 0 for a filter of later code."""
    if row.filter is None:
        return row.named
    try:
        return len(batches.matching(connection, row.filter))
    except Refused:
        return 0


def plan(connection: Connection, now: datetime, wanted: WantedSchedule) -> KeptSchedule:
    """A new schedule.

    Raises:
        ScheduleTimesRefused, TimeZoneUnknown: its times are invalid.
        InvalidWaves: its batches could never be made.
        NoClients, ClientsUnknown: it names no client, or one that does not exist.
        TooManySchedules: 500 schedules have a next time.
    """
    wanted = replace(wanted, request=replace(wanted.request, reason=scrub(wanted.request.reason)))
    schedules_rules.check_batch(wanted.request.waves, wanted.request.max_unproven)
    when = schedules_rules.checked(wanted.when, now)
    if schedules_store.count_live(connection) >= MOST_LIVE:
        raise TooManySchedules
    schedule_id = str(uuid.uuid4())
    quiet_times.lock_batch(connection)  # who renames its site waits for this transaction
    schedules_store.insert(connection, now, schedule_id, wanted, when, schedules_rules.next_time(when, now))
    if wanted.request.clients is not None:
        _name_clients(connection, schedule_id, list(dict.fromkeys(wanted.request.clients)))
    return find(connection, schedule_id)


def _name_clients(connection: Connection, schedule_id: str, uuids: list[str]) -> None:
    if not uuids:
        raise NoClients
    unknown = sorted(set(uuids) - schedules_store.name_clients(connection, schedule_id, uuids))
    if unknown:
        raise ClientsUnknown("some_clients_unknown", facts={"count": len(unknown)}, uuids=unknown[:100])


def change(
    connection: Connection, now: datetime, schedule_id: str, changes: Mapping[str, Any], by: str
) -> KeptSchedule:
    """Change fields of a schedule that is not over: the reason, the waves, the limit or the times.

    With other times, a time that has come and that no tick has seen yet is missed.

    Raises:
        ScheduleNotFound, ScheduleOver: there is none, or it is over.
        ScheduleTimesRefused, TimeZoneUnknown, InvalidWaves: a change is invalid.
    """
    row = _locked(connection, schedule_id)
    changed = replace(row, **{name: value for name, value in changes.items() if name not in TIMES})
    changed = replace(changed, reason=scrub(changed.reason), max_unproven=str(changed.max_unproven))
    schedules_rules.check_batch(changed.waves, schedules_rules.limit_of(changed.max_unproven))
    if times := {name: value for name, value in changes.items() if name in TIMES}:
        when = schedules_rules.checked(schedules_rules.changed(row.when, times), now)
        _pass_by(connection, now, row, schedules_rules.changed_before(by=by))
        more = asdict(when) | {"weekdays": list(when.weekdays), "next_at": schedules_rules.next_time(when, now)}
        changed = replace(changed, **more)
    schedules_store.write(connection, changed)
    return find(connection, schedule_id)


def cancel(connection: Connection, now: datetime, schedule_id: str, by: str) -> bool:
    """End a schedule for good; batches that it made go on. False when it was cancelled before.

    Raises ScheduleNotFound, or ScheduleOver when no time is left to cancel.
    """
    row = schedules_store.lock(connection, schedule_id)
    if row is not None and row.cancelled_at is not None:
        return False
    row = _locked(connection, schedule_id)
    _pass_by(connection, now, row, schedules_rules.cancelled_before(by=by))
    schedules_store.cancel(connection, now, schedule_id, by)
    return True


def _locked(connection: Connection, schedule_id: str) -> KeptSchedule:
    """A schedule that is not over, locked."""
    row = schedules_store.lock(connection, schedule_id)
    if row is None:
        raise ScheduleNotFound
    if row.is_over:
        raise ScheduleOver(state=schedules_rules.state_of(row), batch_id=row.last_batch_id)
    return row


def _pass_by(connection: Connection, now: datetime, row: KeptSchedule, why: Sentence) -> None:
    """Write down as missed the times that have come and that no tick has seen."""
    times = schedules_rules.passed(row.when, row.next_at, now)
    schedules_store.insert_runs(connection, row.id, [schedules_rules.missed(at, why) for at in times])


def make_due(engine: Engine, grace: timedelta, budget_seconds: float) -> DueReport:
    """Make the batches that are due, and write down the times that were missed, until the budget is over.

    Opens its own transactions. A fault ends only the turn of one schedule: the next tick tries again.
    """
    until = time.monotonic() + budget_seconds
    made = missed = failed = 0
    with transaction(engine) as connection:
        due = schedules_store.due(connection, database_now(connection))
    for schedule_id in due:
        if time.monotonic() > until:
            break
        try:
            with transaction(engine) as connection:
                runs = take_turn(connection, database_now(connection), schedule_id, grace)
        except Exception:  # noqa: BLE001 - one schedule must not stop the others
            failure(
                "schedule_interrupted", "a schedule had no turn; the next tick tries again", schedule_id=schedule_id
            )
            failed += 1
        else:
            made += sum(run.outcome is ScheduleOutcome.MADE for run in runs)
            missed += sum(run.outcome is ScheduleOutcome.MISSED for run in runs)
    return DueReport(made, missed, failed)


def take_turn(connection: Connection, now: datetime, schedule_id: str, grace: timedelta) -> list[ScheduleRun]:
    """Do in this transaction what a schedule has to do now. Returns what became of its times."""
    quiet_times.lock_batch(connection)  # first of all: who renames a site changes rights and displays together
    row = schedules_store.lock_due(connection, now, schedule_id)
    if row is None or row.next_at is None:
        return []
    turn = schedules_rules.turn(row.when, row.next_at, now, grace)
    known = schedules_store.decided(connection, row.id, [*turn.missed, *([] if turn.due is None else [turn.due])])
    runs = [schedules_rules.missed(at, schedules_rules.why_late(at, now)) for at in turn.missed if at not in known]
    if turn.due is not None and turn.due not in known:
        runs.append(_make_batch(connection, now, row, turn.due))
    schedules_store.insert_runs(connection, row.id, runs)
    schedules_store.move_on(connection, row.id, turn.next_at)
    return runs


def _make_batch(connection: Connection, now: datetime, row: KeptSchedule, due_at: datetime) -> ScheduleRun:
    """Make the batch of this time; the batches' own step sends it. Missed with the reason when none can be made.

    The maker's rights of today count, not those of when the schedule was made.
    """
    request, by = row.request(schedules_store.clients(connection, row.id)), row.created_by
    maker = batches_store.maker(connection, by, row.created_at, row.action)
    try:
        uuids = batches.chosen(connection, request)
        if maker is None:
            return schedules_rules.missed(due_at, maker_may_not(by=by, displays=len(uuids)))
        left_out = set(uuids) - batches_store.at_sites_of(connection, maker, uuids)
        if left_out and len(left_out) == len(set(uuids)):
            return schedules_rules.missed(due_at, not_at_makers_sites(by=by, displays=len(left_out)))
        batch = batches.create(connection, now, request, uuids, schedules_rules.batch_id(row.id, due_at), left_out)
    except ServiceError as refusal:
        return schedules_rules.missed(due_at, refusal.sentence)
    details = {"command": row.action, "reason": row.reason, "waves": batch.waves, "schedule": row.id}
    line = AuditLine(row.created_by, "command_batch.send", batch.id, "done", None, details)
    access.record_audit(connection, now, line)
    return ScheduleRun(due_at, ScheduleOutcome.MADE, batch_id=batch.id)


def forget_the_future(connection: Connection, now: datetime) -> int:
    """After the database's clock was set back: a time that comes again and had no batch is due again.

    Returns how many schedules have another next time now.
    """
    schedules_store.forget_missed(connection, now)
    moved = 0
    for schedule_id in schedules_store.ahead(connection, now):
        row = find(connection, schedule_id)
        try:
            next_at = _next_undecided(connection, row, now)
        except TimeZoneUnknown:
            failure("schedule_interrupted", "a schedule has no next time here", schedule_id=schedule_id)
            continue
        if next_at != row.next_at:
            schedules_store.move_on(connection, schedule_id, next_at)
            moved += 1
    return moved


def _next_undecided(connection: Connection, row: KeptSchedule, now: datetime) -> datetime | None:
    next_at = schedules_rules.next_time(row.when, now)
    while next_at is not None and schedules_store.decided(connection, row.id, [next_at]):
        next_at = schedules_rules.next_time(row.when, next_at)
    return next_at
