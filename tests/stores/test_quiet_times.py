"""Quiet times on real Postgres: whom they cover, what waits for them, and races with whoever sends."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from extensions.batches import operations as batches
from extensions.batches import store as batches_store
from extensions.batches.rules import BatchRequest, BatchStep, members_wait
from extensions.history import operations as history
from shared.errors import OpeningHoursExist, QuietTimeNotFound
from shared.postgres.door import database_now
from shared.quiet import operations, rules, store
from shared.recovery import operations as recovery
from shared.vocabulary import CommandAction, Quiet, QuietPreset
from shared.words.facts import in_zone
from tests.stores.commands_world import TIMINGS, add_client
from tests.stores.quiet_world import (
    EVERY_DAY,
    hold,
    leave_out_site,
    maintain,
    make,
    open_between,
    opening_hours,
    snooze,
    wanted,
)
from tests.stores.recovery_world import ON, crash, hear

pytestmark = pytest.mark.usefixtures("makers")

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def ids_of(connection: Connection, now: datetime, client: str) -> set[int]:
    return {one.time.id for one in operations.of_client(connection, now, client)}


def test_each_scope_covers_its_own_by_their_present_site_and_tags(connection: Connection, now: datetime) -> None:
    rome = add_client(connection, now, site="Rome")
    tagged = add_client(connection, now, tags=["outdoor", "new"])
    fleet = snooze(connection, now, now + HOUR)
    of_rome = leave_out_site(connection, now, "Rome")
    of_tag = make(connection, now, wanted(QuietPreset.HOLD, tag="outdoor", reason="x")).id
    of_one = hold(connection, now, tagged)

    assert ids_of(connection, now, rome) == {fleet, of_rome}
    assert ids_of(connection, now, tagged) == {fleet, of_tag, of_one}
    assert store.coverage(connection, [fleet, of_rome, of_tag, of_one]) == {fleet: 2, of_rome: 1, of_tag: 1, of_one: 1}
    connection.execute(sa.text("UPDATE clients SET site = 'Oslo', tags = '{outdoor}' WHERE uuid = :u"), {"u": rome})
    assert ids_of(connection, now, rome) == {fleet, of_tag}


def test_what_is_quiet_is_read_by_one_statement_however_many_there_are(connection: Connection, now: datetime) -> None:
    for number in range(200):
        opening_hours(connection, now - DAY, open_between("09:00", "18:00"), f"Shop {number}", "Europe/Rome")
    asked: list[str] = []
    sa.event.listen(connection, "after_cursor_execute", lambda *arguments: asked.append(arguments[2]))

    found = operations.now_quiet(connection, now, now - MINUTE)

    assert len(asked) == 1
    assert len(found.on) + len(found.opened) + len(found.woken) in {0, 200}


def test_the_one_that_ends_last_is_named(connection: Connection, now: datetime) -> None:
    client = add_client(connection, now, site="Rome")
    maintain(connection, now, now + HOUR, site="Rome")
    later = maintain(connection, now, now + 2 * HOUR, clients=[client])
    found = operations.now_quiet(connection, now)

    held = operations.covered(connection, found, Quiet.RECOVERY, [client])

    assert held[client].time.id == later
    assert operations.covered(connection, found, Quiet.SCREEN, [client]) == {}


@pytest.mark.parametrize(("starts_after", "commands"), [(None, 0), (HOUR, 1)])
def test_one_made_while_the_tick_decides_is_respected_unless_it_begins_later(
    connection: Connection, now: datetime, starts_after: timedelta | None, commands: int
) -> None:
    """The tick's time is older than the quiet time, because it waited for the lock."""
    hear(connection, now)
    client = crash(connection, now)
    starts = None if starts_after is None else now + starts_after
    one = wanted(QuietPreset.HOLD, clients=[client], starts=starts, reason="x")
    make(connection, now + timedelta(seconds=1), one)

    assert len(recovery.recover(connection, now, ON, TIMINGS).command_ids) == commands


# --- opening hours are once ---


def test_the_fleet_a_site_and_a_tag_have_their_hours_once(connection: Connection, now: datetime) -> None:
    first = opening_hours(connection, now, open_between("09:00", "18:00"), "Rome")
    opening_hours(connection, now, open_between("09:00", "18:00"), "Oslo")

    with pytest.raises(OpeningHoursExist) as refused:
        opening_hours(connection, now, open_between("10:00", "17:00"), "Rome")

    assert refused.value.extras == {"quiet_time_id": first}
    assert operations.end(connection, now, first, "user:ben")
    season = wanted(
        QuietPreset.OPENING_HOURS, site="Rome", until=now + DAY, spans=open_between("10:00", "17:00"), zone="UTC"
    )
    make(connection, now, season)
    assert opening_hours(connection, now + 2 * DAY, open_between("09:00", "18:00"), "Rome")  # the season is over


def test_what_is_ended_again_does_not_change_and_what_is_not_there_is_said(
    connection: Connection, now: datetime
) -> None:
    first = snooze(connection, now, now + HOUR)

    assert [operations.end(connection, now, first, "user:ben") for _ in range(2)] == [True, False]
    with pytest.raises(QuietTimeNotFound):
        operations.end(connection, now, 987_654_321, "user:ben")


def test_history_goes_when_it_is_old_and_what_lasts_stays(connection: Connection, now: datetime) -> None:
    over, ended, lasts = snooze(connection, now, now + HOUR), snooze(connection, now, now + 9 * DAY), 0
    lasts = make(connection, now, wanted(QuietPreset.HOLD, reason="x")).id
    operations.end(connection, now + MINUTE, ended, "user:ben")

    assert store.drop_history(connection, now + DAY) == 2
    assert store.get(connection, over) is None
    assert store.get(connection, lasts) is not None


# --- batches ---


def batch_of(connection: Connection, now: datetime, uuids: list[str], *waves: int | str) -> str:
    request = BatchRequest(CommandAction.RESTART_APP, "user:anna", "new playlist", tuple(waves) or ("rest",))
    return batches.create(connection, now, request, uuids).id


def advance(connection: Connection, now: datetime, batch: str) -> list[tuple[BatchStep, int]]:
    steps = [batches.advance(connection, now, batch, TIMINGS)]
    while steps[-1][0] in {BatchStep.SEND, BatchStep.NEXT_WAVE}:
        steps.append(batches.advance(connection, now, batch, TIMINGS))
    return steps


def test_a_batch_waits_for_members_in_a_quiet_time_and_says_until_when(connection: Connection, now: datetime) -> None:
    uuids = [add_client(connection, now) for _ in range(5)]
    until = now + HOUR
    maintain(connection, now, until, clients=uuids[:2])
    batch = batch_of(connection, now, uuids, 4, "rest")

    first = advance(connection, now, batch)
    waits = batches.find(connection, batch)
    outcomes = {row.uuid: row.outcome for row in batches_store.members(connection, batch, 10)}
    then = advance(connection, until, batch)

    assert first == [(BatchStep.SEND, 2), (BatchStep.WAIT, 0)]
    assert waits.state_reason == members_wait(members=2, at=in_zone(until, "UTC"))
    assert [outcomes[uuid] for uuid in uuids] == ["waiting", "waiting", "accepted", "accepted", "waiting"]
    assert then[0] == (BatchStep.SEND, 2)
    assert batches.find(connection, batch).state_reason is None


def test_only_quiet_commands_hold_a_batch_back(connection: Connection, now: datetime) -> None:
    client = add_client(connection, now)
    hold(connection, now, client)
    snooze(connection, now, now + HOUR)

    assert advance(connection, now, batch_of(connection, now, [client]))[0] == (BatchStep.SEND, 1)


def test_whoever_makes_commands_quiet_waits_for_the_part_of_a_batch_that_is_sent(engine: Engine) -> None:
    with engine.begin() as connection:
        client = add_client(connection, database_now(connection))
        batch = batch_of(connection, database_now(connection), [client])

    def make_it_quiet() -> int:
        """How many commands there are when the person gets the answer."""
        with engine.begin() as connection:
            maintain(connection, database_now(connection), database_now(connection) + HOUR, clients=[client])
            counted = "SELECT count(*) FROM client_commands WHERE client_uuid = :uuid"
            return int(connection.execute(sa.text(counted), {"uuid": client}).scalar_one())

    with engine.connect() as sending, sending.begin() as part, ThreadPoolExecutor(1) as pool:
        assert batches.advance(sending, database_now(sending), batch, TIMINGS) == (BatchStep.SEND, 1)
        answered = pool.submit(make_it_quiet)
        while not sending.execute(sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")).scalar_one():
            assert not answered.done()
        part.commit()
        assert answered.result(timeout=60) == 1


# --- uptime ---


def test_uptime_counts_opening_hours_only(connection: Connection, now: datetime) -> None:
    begins = now.replace(hour=0, minute=0, second=0, microsecond=0)
    client = add_client(connection, begins, site="Rome", status="stale", created_at=begins - 10 * DAY)
    opening_hours(connection, begins - 9 * DAY, open_between("08:00", "20:00"), "Rome")

    found = history.uptime(connection, begins, client, timedelta(days=2))

    day, week, month = found.windows
    assert (day.closed, day.known) == (12 * HOUR, 12 * HOUR)
    assert (week.closed, week.known) == (84 * HOUR, 84 * HOUR)
    assert (month.closed, month.known) == (9 * 12 * HOUR, 9 * 12 * HOUR + DAY)  # of the ten days one had no hours
    assert len(found.closed) == 3  # both edges of the two days are in the night
    assert [segment.status.value for segment in found.segments] == ["stale"]


def test_other_hours_count_from_when_they_were_set(connection: Connection, now: datetime) -> None:
    noon = now.replace(hour=12, minute=0, second=0, microsecond=0)
    client = add_client(connection, noon, site="Rome", status="running", created_at=noon - 10 * DAY)
    first = opening_hours(connection, noon - 5 * DAY, open_between("08:00", "20:00"), "Rome")
    changed = operations.change(connection, noon, first, {"spans": open_between("00:00", "24:00")}, "user:ben")

    found = history.uptime(connection, noon + DAY, client, DAY)

    assert (changed.id != first, changed.starts_at, changed.spans[0].days) == (True, noon, EVERY_DAY)
    day, week, _ = found.windows
    assert day.closed == timedelta()
    assert week.closed == 5 * 12 * HOUR
    assert rules.state_at(operations.find(connection, first), noon).value == "ended"
