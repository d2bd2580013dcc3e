"""A whole fleet crashes at once: each display is restarted within the hour, and never more at once than allowed."""

import math
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared import config
from shared.commands.acks.operations import record_acks
from shared.commands.outbox import operations as outbox
from shared.commands.proofs_operations import record_new_starts
from shared.commands.rules import Ack, Attempt, Sighting
from shared.postgres.door import database_now
from shared.recovery import rules
from shared.tables import client_commands, client_recovery, clients, recovery_events
from shared.vocabulary import CommandState, PublishAnswer
from tests.diary import progress
from tests.stores.commands_world import TIMINGS, seconds
from tests.stores.recovery_world import fleet, hear, recover

MINUTE = timedelta(minutes=1)
WHOLE = 590  # needs more ticks than any larger fleet
PATIENT = config.load({"CRASH_RECOVERY_ENABLED": "true", "HEARTBEAT_STALE_SECONDS": "7200"})
"""One heartbeat of each display is valid for the hour, so that not every tick must write all rows."""
ANALYSE = "ANALYZE clients, client_heartbeats, client_commands, client_recovery"
"""Analyse as autovacuum does; autovacuum itself does not see rows that are not committed."""


def is_analysed(minute: int) -> bool:
    """Whether to analyse: Postgres does when a tenth of a table is new, at first each minute and later rarely."""
    return minute < 10 or minute % 6 == 0


@pytest.mark.parametrize(
    ("seen", "cap"),
    [(0, 10), (9, 10), (1_000, 10), (1_100, 12), (2_000, 30), (10_000, 190), (100_000, 1_990)],
)
def test_the_cap_grows_with_the_fleet(seen: int, cap: int) -> None:
    assert rules.cap(seen) == cap


@pytest.mark.parametrize(("seen", "ticks"), [(WHOLE, 59), (4_000, 58), (10_000, 53), (100_000, 51)])
def test_fewer_than_sixty_ticks_go_through_a_fleet(seen: int, ticks: int) -> None:
    assert math.ceil(seen / rules.cap(seen)) == ticks


@pytest.mark.parametrize(("crashed", "cap"), [(12, 10), (1_100, 12)])
def test_no_more_than_the_cap_are_asked_at_once(connection: Connection, crashed: int, cap: int) -> None:
    now = database_now(connection)
    hear(connection, now)
    fleet(connection, now, crashed, process_status="crashed", status="crashed")

    assert len(recover(connection, now).command_ids) == cap


def carry_out(connection: Connection, at: datetime) -> int:
    """Publish all due commands; the displays carry them out and play again. Returns how many."""
    done = 0
    while claimed := outbox.claim_due(connection, at, limit=500):
        attempts = [Attempt(one.id, one.lease_until, one.attempts, PublishAnswer.SUCCESS, True) for one in claimed]
        outbox.record_publish_answers(connection, at, attempts, TIMINGS)
        word = CommandState.SUCCEEDED
        acks = [Ack(one.client_uuid, one.id, word, app_instance=f"start of {one.id}") for one in claimed]
        record_acks(connection, at, acks, TIMINGS)
        seen = [Sighting(one.client_uuid, None, f"start of {one.id}") for one in claimed]
        record_new_starts(connection, at, seen)
        well = clients.c.uuid.in_([one.client_uuid for one in claimed])
        running = {"process_status": "running", "process_status_since": at, "status": "running"}
        connection.execute(sa.update(clients).where(well).values(**running))
        done += len(claimed)
    return done


def test_a_fleet_that_crashes_at_once_is_worked_off_within_an_hour(connection: Connection) -> None:
    connection.execute(sa.text("SET LOCAL statement_timeout = 0"))  # rows made here are made at one moment
    now = database_now(connection)
    hear(connection, now)
    fleet(connection, now, WHOLE, process_status="crashed", status="crashed")
    asked = []

    for minute in range(60):
        at = now + minute * MINUTE
        hear(connection, at)
        if is_analysed(minute):
            connection.execute(sa.text(ANALYSE))
        report = recover(connection, at, PATIENT)
        asked.append(len(report.command_ids))
        progress(f"{sum(asked)} restarted")
        assert carry_out(connection, at + seconds(5)) == asked[-1]
        if sum(asked) == WHOLE:
            break

    restarted = connection.execute(sa.select(sa.func.count(client_commands.c.client_uuid.distinct()))).scalar_one()
    rungs = connection.execute(sa.select(sa.func.sum(client_recovery.c.step))).scalar_one()
    assert (sum(asked), restarted) == (WHOLE, WHOLE)
    assert max(asked) == rules.cap(WHOLE)
    assert rungs < WHOLE  # the first displays have been well for half an hour


def test_of_a_thousand_crashed_under_six_overlapping_rounds_ten_are_restarted(engine: Engine) -> None:
    with engine.begin() as connection:
        now = database_now(connection)
        hear(connection, now)
        fleet(connection, now, 1000, process_status="crashed", status="crashed")

    def round_of(_number: int) -> int:
        with engine.begin() as connection:
            return len(recover(connection, database_now(connection)).command_ids)

    with ThreadPoolExecutor(6) as pool:
        counts = list(pool.map(round_of, range(6)))

    assert sorted(counts) == [0, 0, 0, 0, 0, 10]
    with engine.connect() as connection:
        asked = connection.execute(sa.select(client_commands.c.client_uuid)).scalars().all()
        events = connection.execute(sa.select(sa.func.count()).select_from(recovery_events)).scalar_one()
        rungs = connection.execute(sa.select(sa.func.sum(client_recovery.c.step))).scalar_one()
    assert (len(asked), len(set(asked)), events, rungs) == (10, 10, 10, 10)
