"""Schedules on real Postgres: each of their times is decided once, whoever comes, dies, or changes the clock."""

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy import Connection, Engine

from extensions.batches import operations as batches
from extensions.batches import schedules_operations as operations
from extensions.batches import schedules_rules as rules
from extensions.batches import schedules_store as store
from extensions.batches import store as batches_store
from extensions.batches.rules import BatchRequest, BatchStep, members_wait
from extensions.batches.schedules_rules import KeptSchedule, ScheduleRun, WantedSchedule, When
from shared.clients import operations as clients
from shared.commands.acks.operations import record_acks
from shared.commands.proofs_operations import record_new_starts
from shared.commands.rules import Ack, Sighting
from shared.errors import (
    ClientNotFound,
    ClientsUnknown,
    InvalidWaves,
    NoClients,
    ScheduleNotFound,
    ScheduleOver,
    ScheduleTimesRefused,
    TooManySchedules,
)
from shared.postgres.door import database_now
from shared.tables import audit_log, client_commands, command_batches, command_schedule_runs, command_schedules
from shared.vocabulary import CommandState, ScheduleOutcome, ScheduleState, Weekday
from shared.words.facts import in_zone
from shared.words.reader import english
from shared.words.sentences import together
from tests.stack import eventually
from tests.stores.command_faults import Crash, Database, Died
from tests.stores.commands_world import NOWHERE, RESTART, TIMINGS, add_client, new_client
from tests.stores.quiet_world import maintain
from tests.stores.test_commands_races import at_once

pytestmark = pytest.mark.usefixtures("makers")

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
GRACE = rules.GRACE
DAILY = When(time_zone="UTC", weekdays=tuple(Weekday), local_time="03:00")
MADE, MISSED = ScheduleOutcome.MADE, ScheduleOutcome.MISSED


def wanted(when: When, **more: Any) -> WantedSchedule:
    facts: dict[str, Any] = {"requested_by": "user:ada", "reason": "new playlist", "filter": {"site": "Basel"}, **more}
    return WantedSchedule(request=BatchRequest(RESTART, **facts), when=when)


def plan(connection: Connection, now: datetime, when: When | None = None, **more: Any) -> KeptSchedule:
    """Plan a schedule, once in an hour unless `when` differs."""
    return operations.plan(connection, now, wanted(when or When(time_zone="UTC", at=now + HOUR), **more))


def turn(connection: Connection, now: datetime, one: KeptSchedule) -> list[ScheduleRun]:
    return operations.take_turn(connection, now, one.id, GRACE)


def decided(connection: Connection, one: KeptSchedule) -> list[tuple[datetime, str]]:
    """Each time with what became of it, in order."""
    return [(run.due_at, run.outcome) for run in reversed(store.runs(connection, one.id, 1000))]


def again(connection: Connection, one: KeptSchedule) -> KeptSchedule:
    return operations.find(connection, one.id)


@pytest.fixture
def basel(connection: Connection, now: datetime) -> list[str]:
    return [add_client(connection, now, name=f"B{number}", site="Basel") for number in range(3)]


# --- making one ---


def test_a_schedule_is_kept_as_it_was_wanted(connection: Connection, now: datetime, basel: list[str]) -> None:
    more = {"filter": None, "clients": basel[::-1], "waves": (1, "10%", "rest"), "max_unproven": 2, "ttl": HOUR}

    made = plan(connection, now, replace(DAILY, time_zone="Europe/Berlin", until=now.date() + 9 * DAY), **more)

    assert (made.weekdays, made.local_time, made.time_zone) == (list(Weekday), "03:00", "Europe/Berlin")
    assert (made.created_by, made.created_at, made.reason, made.named) == ("user:ada", now, "new playlist", 3)
    assert made.next_at == rules.next_time(made.when, now)
    assert rules.state_of(made) is ScheduleState.PLANNED
    request = made.request(store.clients(connection, made.id))
    assert (request.clients, request.waves, request.max_unproven) == (tuple(basel[::-1]), (1, "10%", "rest"), 2)
    assert (request.ttl, request.filter) == (HOUR, None)


def test_what_could_never_be_made_is_refused_and_not_kept(connection: Connection, now: datetime) -> None:
    gone = add_client(connection, now)
    clients.delete(connection, now, gone)
    cases: list[tuple[type[Exception], dict[str, Any]]] = [
        (ScheduleTimesRefused, {"when": When(time_zone="UTC", at=now)}),
        (InvalidWaves, {"waves": ("rest", 1)}),
        (NoClients, {"filter": None, "clients": ()}),
        (ClientsUnknown, {"filter": None, "clients": (gone, NOWHERE)}),
    ]
    for error, more in cases:
        with pytest.raises(error), connection.begin_nested():
            plan(connection, now, **more)

    assert store.page(connection, None, 10, None) == []


def test_only_so_many_may_be_to_come(connection: Connection, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "MOST_LIVE", 1)
    first = plan(connection, now)

    with pytest.raises(TooManySchedules):
        plan(connection, now)
    operations.cancel(connection, now, first.id, "user:ada")
    assert plan(connection, now).id != first.id


# --- its time ---


def test_at_its_time_an_ordinary_batch_is_made_of_who_matches_then(
    connection: Connection, now: datetime, basel: list[str]
) -> None:
    one = plan(connection, now, waves=(1, "rest"), max_unproven=1)
    late = add_client(connection, now, name="B9", site="Basel")
    clients.delete(connection, now, basel[0])
    due = now + HOUR

    [run] = turn(connection, due, one)

    batch = batches.find(connection, str(run.batch_id))
    assert (batch.action, batch.requested_by, batch.reason, batch.waves) == (
        "restart_app",
        "user:ada",
        "new playlist",
        2,
    )
    assert [row.uuid for row in batches_store.members(connection, batch.id, 10)] == [*basel[1:], late]
    assert (decided(connection, one), again(connection, one).next_at) == ([(due, MADE)], None)
    assert rules.state_of(again(connection, one)) is ScheduleState.RUNNING
    audited = sa.select(audit_log.c.actor, audit_log.c.action).where(audit_log.c.target == batch.id)
    assert [tuple(row) for row in connection.execute(audited)] == [("user:ada", "command_batch.send")]
    batches.advance(connection, due, batch.id, TIMINGS)
    assert batches_store.counts(connection, batch.id)[(1, "accepted", CommandState.QUEUED)] == 1


def test_it_is_held_while_a_quiet_time_holds_its_batch_back_and_then_runs(
    connection: Connection, now: datetime, basel: list[str]
) -> None:
    one = plan(connection, now)
    due, until = now + HOUR, now + 3 * HOUR
    maintain(connection, now, until, clients=basel)
    [run] = turn(connection, due, one)
    batch = str(run.batch_id)

    assert batches.advance(connection, due, batch, TIMINGS) == (BatchStep.WAIT, 0)
    waits = again(connection, one)
    assert batches.advance(connection, until, batch, TIMINGS) == (BatchStep.SEND, 3)

    assert rules.state_of(waits) is ScheduleState.HELD
    assert rules.words(waits) == together([rules.schedule_held(), members_wait(members=3, at=in_zone(until, "UTC"))])
    assert rules.state_of(again(connection, one)) is ScheduleState.RUNNING


@pytest.mark.usefixtures("basel")
def test_before_its_time_and_after_it_nothing_happens(connection: Connection, now: datetime) -> None:
    one = plan(connection, now)

    assert turn(connection, now + HOUR - timedelta.resolution, one) == []
    assert len(turn(connection, now + HOUR, one)) == 1
    assert turn(connection, now + HOUR, one) == turn(connection, now + 9 * HOUR, one) == []


MISSED_FOR: list[tuple[timedelta, dict[str, Any], str]] = [
    (GRACE + MINUTE, {"site": "Basel"}, "The scheduler was away: it came 11 minutes too late."),
    (timedelta(), {"site": "Nowhere"}, "No client matches, so there is nothing to send."),
    (timedelta(), {"site": "Basel", "floor": 3}, "This version does not know a filter by floor."),
]


@pytest.mark.parametrize(("late", "chosen", "why"), MISSED_FOR)
@pytest.mark.usefixtures("basel")
def test_a_time_that_is_missed_is_said_with_the_reason_and_never_made_up_for(
    connection: Connection, now: datetime, late: timedelta, chosen: dict[str, Any], why: str
) -> None:
    one = plan(connection, now)
    connection.execute(sa.update(command_schedules).values(filter=chosen))  # which later code may have written

    [run] = turn(connection, now + HOUR + late, one)

    assert (run.outcome, run.batch_id, run.why and english(run.why)) == (MISSED, None, why)
    assert rules.state_of(again(connection, one)) is ScheduleState.MISSED
    assert turn(connection, now + DAY, one) == []


@pytest.mark.usefixtures("basel")
def test_after_days_away_all_missed_times_are_said_and_the_next_one_comes(
    connection: Connection, now: datetime
) -> None:
    one = plan(connection, now, DAILY)
    assert one.next_at is not None

    runs = turn(connection, one.next_at + 3 * DAY, one)

    assert [run.outcome for run in runs] == [MISSED, MISSED, MISSED, MADE]
    assert [run.why.code for run in runs if run.why] == ["scheduler_late"] * 3
    assert again(connection, one).next_at == one.next_at + 4 * DAY


def test_an_action_of_later_code_is_left_to_later_code(connection: Connection, now: datetime) -> None:
    one = plan(connection, now)
    connection.execute(sa.update(command_schedules).values(action="polish_screen"))

    assert store.due(connection, now + DAY) == []
    assert again(connection, one).action == "polish_screen"


# --- changes by people ---


def test_one_that_is_cancelled_never_happens_and_stays_as_history(connection: Connection, now: datetime) -> None:
    one = plan(connection, now, DAILY)

    assert operations.cancel(connection, now, one.id, "user:ben") is True
    assert operations.cancel(connection, now, one.id, "user:carl") is False

    assert one.next_at is not None
    assert (turn(connection, one.next_at, one), store.due(connection, now + DAY)) == ([], [])
    assert again(connection, one).cancelled_by == "user:ben"
    assert rules.state_of(again(connection, one)) is ScheduleState.CANCELLED


@pytest.mark.usefixtures("basel")
def test_what_is_over_can_be_neither_cancelled_nor_changed_and_names_its_batch(
    connection: Connection, now: datetime
) -> None:
    one = plan(connection, now)
    [run] = turn(connection, now + HOUR, one)

    with pytest.raises(ScheduleOver) as refused:
        operations.cancel(connection, now + HOUR, one.id, "user:ben")
    assert refused.value.extras == {"state": "running", "batch_id": run.batch_id}
    with pytest.raises(ScheduleOver):
        operations.change(connection, now + HOUR, one.id, {"reason": "x"}, "user:ben")
    for act in (partial(operations.cancel, by="x"), partial(operations.change, changes={}, by="x")):
        with pytest.raises(ScheduleNotFound):
            act(connection, now, schedule_id=NOWHERE)


def test_a_change_of_the_times_moves_the_next_one_and_another_change_does_not(
    connection: Connection, now: datetime
) -> None:
    one = plan(connection, now, DAILY)

    said = operations.change(connection, now, one.id, {"reason": "other", "waves": [1, "rest"]}, "user:ben")
    assert (said.reason, said.waves, said.next_at) == ("other", [1, "rest"], one.next_at)
    moved = operations.change(connection, now, one.id, {"local_time": "05:30", "time_zone": "Asia/Tokyo"}, "user:ben")
    assert moved.next_at == rules.next_time(moved.when, now) != one.next_at
    with pytest.raises(InvalidWaves), connection.begin_nested():
        operations.change(connection, now, one.id, {"waves": ["rest", 1]}, "user:ben")


@pytest.mark.parametrize("act", ["change", "cancel"])
def test_a_time_that_a_person_takes_away_while_it_is_due_is_said_to_be_missed(
    connection: Connection, now: datetime, act: str
) -> None:
    one = plan(connection, now, DAILY)
    assert one.next_at is not None
    at = one.next_at + MINUTE

    if act == "cancel":
        operations.cancel(connection, at, one.id, "user:ben")
    else:
        operations.change(connection, at, one.id, {"local_time": "05:00"}, "user:ben")

    [run] = store.runs(connection, one.id, 10)
    assert (run.due_at, run.outcome) == (one.next_at, MISSED)
    assert run.why is not None
    assert run.why.facts == {"by": "user:ben"}


# --- whom it is for ---


def test_a_client_is_told_what_will_happen_to_it(connection: Connection, now: datetime, basel: list[str]) -> None:
    tagged = add_client(connection, now, name="50%_off\\", site="Kiel", tags=["outdoor"])
    named = plan(connection, now, DAILY, filter=None, clients=(basel[0], tagged))
    site = plan(connection, now)
    tag = plan(connection, now, filter={"tag": "outdoor"})
    words = plan(connection, now, filter={"q": "50%_OFF\\"})
    nobody = plan(connection, now, filter={"status": "stopped", "stale": True})
    cancelled = plan(connection, now)
    operations.cancel(connection, now, cancelled.id, "user:ada")

    def told(uuid: str) -> set[str]:
        return {one.id for one in operations.of_client(connection, uuid)}

    assert told(basel[0]) == {named.id, site.id}
    assert told(basel[1]) == {site.id}
    assert told(tagged) == {named.id, tag.id, words.id}
    assert nobody.id not in told(tagged) | told(basel[0])
    with pytest.raises(ClientNotFound):
        operations.of_client(connection, NOWHERE)


FILTERS: list[dict[str, Any]] = [
    {"status": "running"},
    {"site": "Basel"},
    {"tag": "outdoor"},
    {"version": "2.1"},
    {"q": "_%"},
    {"q": "bas"},
    {"stale": True},
    {"stale": False},
    {"service_failed": True},
    {"service_failed": False, "site": "Kiel"},
    {"screen_failed": False, "tag": "outdoor", "q": "k"},
]


@pytest.mark.parametrize("chosen", FILTERS, ids=str)
def test_a_display_is_told_of_a_filter_exactly_if_a_batch_would_choose_it(
    connection: Connection, now: datetime, chosen: dict[str, Any]
) -> None:
    fleet = [
        add_client(connection, now, name="a_%", site="Basel", status="stale"),
        add_client(connection, now, name="k", site="Kiel", tags=["outdoor"], app_version="2.1", status="running"),
        add_client(connection, now, site="Kiel", service_failed_at=now, service_failed_unit="x"),
    ]
    plan(connection, now, filter=chosen)

    told = {one for one in fleet if operations.of_client(connection, one)}

    assert told == set(batches.chosen(connection, wanted(DAILY, filter=chosen).request))


def test_lists_come_newest_first_and_by_whether_they_are_to_come(connection: Connection, now: datetime) -> None:
    made = [plan(connection, now + number * MINUTE, DAILY) for number in range(3)]
    operations.cancel(connection, now, made[1].id, "user:ada")

    def listed(current: bool | None, limit: int = 10, after: Any = None) -> list[str]:
        return [row.id for row in store.page(connection, current, limit, after)]

    assert listed(None) == [made[2].id, made[1].id, made[0].id]
    assert listed(True) == [made[2].id, made[0].id]
    assert listed(False) == [made[1].id]
    assert listed(None, 1, (made[2].created_at, made[2].id)) == [made[1].id]


@pytest.mark.usefixtures("basel")
def test_history_is_dropped_by_age_and_what_is_to_come_never(connection: Connection, now: datetime) -> None:
    over, live = plan(connection, now), plan(connection, now, DAILY)
    for one in (over, live):
        turn(connection, now + 2 * DAY, one)

    assert store.drop_history(connection, now) == 0
    assert store.drop_history(connection, now + 9 * DAY) == 1

    assert [row.id for row in store.page(connection, None, 10, None)] == [live.id]
    assert store.runs(connection, live.id, 10) == []


# --- the clock ---


@pytest.mark.usefixtures("basel")
def test_a_clock_that_was_ahead_and_is_set_back_loses_no_time_and_repeats_none(
    connection: Connection, now: datetime
) -> None:
    weekly, once = plan(connection, now, DAILY), plan(connection, now)
    assert weekly.next_at is not None
    first = weekly.next_at
    [made] = turn(connection, first, weekly)  # by a clock that is ahead
    turn(connection, first + 2 * DAY + HOUR, weekly)
    turn(connection, now + 2 * DAY, once)
    assert [word for _, word in decided(connection, weekly)] == [MADE, MISSED, MISSED]

    assert operations.forget_the_future(connection, now) == 2

    assert (again(connection, weekly).next_at, again(connection, once).next_at) == (first + DAY, once.next_at)
    assert decided(connection, weekly) == [(first, MADE)]
    assert turn(connection, first + MINUTE, weekly) == []  # its batch was made
    assert [run.outcome for run in turn(connection, first + DAY, weekly)] == [MADE]
    assert made.batch_id != store.runs(connection, weekly.id, 1)[0].batch_id


def test_a_clock_that_runs_as_it_should_changes_nothing(connection: Connection, now: datetime) -> None:
    one = plan(connection, now, DAILY)

    assert operations.forget_the_future(connection, now) == 0
    assert again(connection, one) == one


# --- races and deaths, on committed rows ---


@pytest.fixture
def away(engine: Engine) -> Iterator[str]:
    """A site with two displays; afterwards no schedule and no running batch is left."""
    site = f"Site {uuid.uuid4()}"
    for _ in range(2):
        new_client(engine, site=site)
    yield site
    with engine.begin() as connection:
        connection.execute(sa.delete(command_schedules))
        connection.execute(sa.update(command_batches).values(state="aborted"))


def committed(engine: Engine, site: str, when: When | None = None) -> KeptSchedule:
    """A committed schedule of the site that was due a moment ago."""
    with engine.begin() as connection:
        now = database_now(connection)
        one = plan(connection, now, when or When(time_zone="UTC", at=now + HOUR), filter={"site": site})
        earlier = sa.update(command_schedules).where(command_schedules.c.id == one.id)
        connection.execute(earlier.values(next_at=now, **({"at": now} if when is None else {})))
        return again(connection, one)


def batches_of(engine: Engine, one: KeptSchedule) -> list[str]:
    """The ids of the batches of its times, whether what became of the times is written down or not."""
    assert one.next_at is not None
    with engine.connect() as connection:
        runs = store.runs(connection, one.id, 100)
        ids = {rules.batch_id(one.id, at) for at in [one.next_at, *(run.due_at for run in runs)]}
        made = list(connection.execute(sa.select(command_batches.c.id).where(command_batches.c.id.in_(ids))).scalars())
    assert {run.batch_id for run in runs if run.batch_id} == set(made)
    return made


def make_due(engine: Engine) -> Any:
    return operations.make_due(engine, GRACE, 60.0)


@pytest.mark.parametrize("attempt", range(3))
def test_of_six_ticks_at_once_one_makes_the_batch(engine: Engine, away: str, attempt: int) -> None:
    one = committed(engine, away)

    reports = at_once([partial(make_due, engine)] * 6)

    assert sum(report.made for report in reports) == 1
    assert sum(report.failed for report in reports) == 0
    assert len(batches_of(engine, one)) == 1


@pytest.mark.parametrize("attempt", range(4))
@pytest.mark.parametrize("act", ["cancel", "change"])
def test_a_person_and_a_tick_at_once_leave_one_consequence(engine: Engine, away: str, act: str, attempt: int) -> None:
    one = committed(engine, away, DAILY)

    def person() -> None:
        with engine.begin() as connection:
            now = database_now(connection)
            if act == "cancel":
                operations.cancel(connection, now, one.id, "user:ben")
            else:
                operations.change(connection, now, one.id, {"local_time": "12:00"}, "user:ben")

    at_once([person, lambda: make_due(engine)])
    report = make_due(engine)

    with engine.connect() as connection:
        [(due_at, outcome)] = decided(connection, one)
    assert due_at == one.next_at
    assert len(batches_of(engine, one)) == (outcome == MADE)
    assert (report.made, report.missed) == (0, 0)


def test_a_tick_that_dies_anywhere_leaves_all_or_nothing_and_the_next_one_goes_on(engine: Engine, away: str) -> None:
    database = Database(engine)
    try:
        for crash in (*(Crash(after) for after in range(18)), Crash(committed=True)):
            one = committed(engine, away)
            with pytest.raises(Died):
                database.run(partial(turn_now, one), crash)
            assert len(batches_of(engine, one)) == crash.committed
            assert made_by_the_next_ticks(engine, one) == (not crash.committed)
            assert len(batches_of(engine, one)) == 1
    finally:
        database.close()


def made_by_the_next_ticks(engine: Engine, one: KeptSchedule) -> int:
    """How many batches are made until there is one: Postgres frees the locks of a dead session when it sees its end."""
    reports: list[Any] = []

    def tick() -> bool:
        reports.append(make_due(engine))
        return bool(batches_of(engine, one))

    eventually(tick, "the batch of a next tick")
    return sum(report.made for report in reports)


def turn_now(one: KeptSchedule, connection: Connection) -> list[ScheduleRun]:
    return turn(connection, database_now(connection), one)


def test_one_that_cannot_be_read_stops_no_other(engine: Engine, away: str) -> None:
    spoiled, fine = committed(engine, away, DAILY), committed(engine, away)
    with engine.begin() as connection:
        mine = sa.update(command_schedules).where(command_schedules.c.id == spoiled.id)
        connection.execute(mine.values(time_zone="Europe/Atlantis"))

    report = make_due(engine)

    assert (report.made, report.failed) == (1, 1)
    assert (len(batches_of(engine, fine)), batches_of(engine, spoiled)) == (1, [])


def test_a_restored_database_without_the_batch_makes_it_again_with_its_commands(engine: Engine, away: str) -> None:
    one = committed(engine, away)

    def sent() -> set[tuple[str, str]]:
        with engine.connect() as connection:
            row = client_commands.c
            mine = sa.select(row.client_uuid, row.id).where(row.reason["facts"]["text"].astext == f"for {away}")
            return {(client, name) for client, name in connection.execute(mine)}

    def make() -> None:
        with engine.begin() as connection:
            connection.execute(sa.update(command_schedules).values(reason=f"for {away}"))
        assert make_due(engine).made == 1
        batches.work_off(engine, TIMINGS, 60.0, batches_of(engine, one))

    make()
    before = sent()
    _forget(engine, one, [name for _, name in before])
    assert sent() == set()

    make()

    assert sent() == before
    assert len(before) == 2


def _forget(engine: Engine, one: KeptSchedule, commands: list[str]) -> None:
    """Bring the database back to before the turn."""
    [batch] = batches_of(engine, one)
    with engine.begin() as connection:
        connection.execute(sa.delete(command_schedule_runs).where(command_schedule_runs.c.schedule_id == one.id))
        for table, column in (("command_batch_members", "batch_id"), ("command_batches", "id")):
            connection.execute(sa.text(f"DELETE FROM {table} WHERE {column} = :batch"), {"batch": batch})
        connection.execute(sa.delete(client_commands).where(client_commands.c.id.in_(commands)))
        connection.execute(sa.text("UPDATE clients SET lockout_until = NULL, lockout_command_id = NULL"))
        store.move_on(connection, one.id, one.next_at)


def test_a_schedule_is_done_when_the_batch_of_its_last_time_is_over(engine: Engine, away: str) -> None:
    one = committed(engine, away)
    make_due(engine)
    [batch] = batches_of(engine, one)
    batches.work_off(engine, TIMINGS, 60.0, [batch])
    with engine.begin() as connection:
        assert rules.state_of(again(connection, one)) is ScheduleState.RUNNING
        now = database_now(connection)
        rows = batches_store.members(connection, batch, 10)
        done, boot = CommandState.SUCCEEDED, "another boot"
        record_acks(connection, now, [Ack(r.uuid, str(r.command_id), done, boot_id=boot) for r in rows], TIMINGS)
        record_new_starts(connection, now, [Sighting(r.uuid, "another boot", "another start") for r in rows])

    batches.work_off(engine, TIMINGS, 60.0, [batch])

    with engine.connect() as connection:
        assert rules.state_of(again(connection, one)) is ScheduleState.DONE
