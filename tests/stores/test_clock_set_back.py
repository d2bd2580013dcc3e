"""Times that were stored while the database's clock was ahead have no effect after the clock is set back."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.access import attempts_store, enrolment_rules
from shared.access import operations as access
from shared.access.rules import FAILURES_COUNT_FOR, Counter
from shared.commands import operations as commands
from shared.commands import store as commands_store
from shared.conversions import operations as conversions
from shared.event_media.uploads import operations as uploads
from shared.event_media.uploads import rules as uploads_rules
from shared.event_media.uploads import store as uploads_store
from shared.leadership import store as leadership_store
from shared.leadership.rules import listening
from shared.postgres import set_back as times_ahead
from shared.postgres.door import database_now
from shared.recovery.breakers import operations as breakers
from shared.tables import bridge_status, client_health, client_recovery, clients
from tests.stores.commands_world import (
    LOCKOUT,
    REBOOT,
    SHUTDOWN,
    TIMINGS,
    add_client,
    claim,
    command,
    done,
    issue,
    lockout,
    say,
    seconds,
)
from tests.stores.incidents_world import all_of, come_back, go_silent, listen, observe, site
from tests.stores.notifications_world import channel, decide, deliver_all, display
from tests.stores.notifications_world import told as told_people
from tests.stores.quiet_world import hold
from tests.stores.recovery_world import beat, crash, fleet, hear, open_breakers, recover, sent, told
from tests.stores.test_conversions_store import LEASE, claimed, pending

AHEAD = timedelta(days=1)
MINUTE = timedelta(minutes=1)
GAP = timedelta(seconds=45)


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    hear(connection, at)
    return at


def set_back(connection: Connection, now: datetime) -> None:
    """Do what the first tick after the change does."""
    for table in times_ahead.TABLES:
        times_ahead.forget_the_future(connection, now, table)
    commands_store.forget_the_future(connection, now, LOCKOUT)
    uploads_store.forget_the_future(connection, now)


def test_a_breaker_that_was_released_ahead_of_time_opens_over_a_new_silence(
    connection: Connection, now: datetime
) -> None:
    there, gone = fleet(connection, now + AHEAD, 80), fleet(connection, now + AHEAD - 4 * MINUTE, 20)
    hear(connection, now + AHEAD)
    recover(connection, now + AHEAD)
    assert breakers.release(connection, now + AHEAD, "anna", None) == [None]
    set_back(connection, now)
    beat(connection, [*there, *gone], now)

    beat(connection, there, now + 5 * MINUTE)
    hear(connection, now + 5 * MINUTE)
    report = recover(connection, now + 5 * MINUTE)

    assert open_breakers(connection) == {None}
    assert report.command_ids == ()


def test_a_service_that_failed_ahead_of_time_is_well_when_its_display_says_so(
    connection: Connection, now: datetime
) -> None:
    facts = {"service_failed_at": now + AHEAD, "service_failed_unit": "player.service"}
    client = add_client(connection, now, status="running", process_status="running", **facts)
    set_back(connection, now)
    body = {"service_failed": None}
    well = sa.insert(client_health).values(client_uuid=client, received_at=now + seconds(20), body=body)
    connection.execute(well)

    assert sent(connection, recover(connection, now + seconds(30))) == []
    assert told(connection, now + seconds(30), client)["state"] == "verifying"


def test_a_player_that_crashed_ahead_of_time_is_restarted(connection: Connection, now: datetime) -> None:
    client = crash(connection, now, crashed_for=-AHEAD.total_seconds())
    set_back(connection, now)

    assert sent(connection, recover(connection, now + seconds(30))) == [(client, "restart_app")]


def test_what_recovery_noted_ahead_of_time_holds_nobody_up(connection: Connection, now: datetime) -> None:
    client = crash(connection, now, shared_login_seen_at=now + AHEAD)
    noted = dict.fromkeys(("tried_since", "unheard_at", "healthy_since", "decided_at"), now + AHEAD)
    connection.execute(sa.insert(client_recovery).values(client_uuid=client, step=1, restarts=1, **noted))
    set_back(connection, now)

    beat(connection, client, now + 61 * MINUTE)
    hear(connection, now + 61 * MINUTE)
    report = recover(connection, now + 61 * MINUTE)

    assert sent(connection, report) == [(client, "restart_app")]


def test_a_command_of_ahead_of_time_ends_when_the_time_that_it_had_is_over(
    connection: Connection, now: datetime
) -> None:
    sent_one, received_one = add_client(connection, now), add_client(connection, now)
    first, second = (issue(connection, now + AHEAD, client, REBOOT) for client in (sent_one, received_one))
    claim(connection, now + AHEAD)
    say(connection, now + AHEAD, received_one, second, "received")
    set_back(connection, now)

    soon = commands.expire(connection, now + TIMINGS.ttl[REBOOT] - seconds(1))
    then = commands.expire(connection, now + TIMINGS.ttl[REBOOT])
    last = commands.expire(connection, now + TIMINGS.result[REBOOT])

    assert [(one.expired, one.timed_out) for one in (soon, then, last)] == [(0, 0), (1, 0), (0, 1)]
    assert command(connection, first)["created_at"] == now
    assert lockout(connection, sent_one) == lockout(connection, received_one) == now + LOCKOUT


def test_a_display_that_was_shut_down_ahead_of_time_is_helped_once_it_is_heard(
    connection: Connection, now: datetime
) -> None:
    client = crash(connection, now)
    done(connection, now + AHEAD, client, issue(connection, now + AHEAD, client, SHUTDOWN))
    set_back(connection, now)
    beat(connection, client, now + seconds(10))

    assert sent(connection, recover(connection, now + seconds(30))) == [(client, "restart_app")]


def test_who_was_held_until_later_stays_held(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    hold(connection, now, client, until=now + AHEAD)
    set_back(connection, now)

    assert sent(connection, recover(connection, now + seconds(30))) == []


def test_a_clock_that_runs_as_it_should_changes_nothing(connection: Connection, now: datetime) -> None:
    client = crash(connection, now, service_failed_at=now - MINUTE, service_failed_unit="x")
    mine = sa.select(clients).where(clients.c.uuid == client)
    before = connection.execute(mine).mappings().one()

    set_back(connection, now)

    assert connection.execute(mine).mappings().one() == before


# --- notifications and conversions ---


def test_a_display_that_left_an_incident_ahead_of_time_can_be_part_of_the_next(
    connection: Connection, now: datetime
) -> None:
    rome = site(connection, now + AHEAD)
    listen(connection, now + AHEAD)
    go_silent(connection, now + AHEAD, rome)
    observe(connection, now + AHEAD)
    come_back(connection, now + AHEAD + 4 * MINUTE, rome)
    observe(connection, now + AHEAD + 4 * MINUTE)
    set_back(connection, now)

    observe(connection, now + 10 * MINUTE)
    later = now + timedelta(hours=3)
    listen(connection, later)
    go_silent(connection, later, rome)
    observe(connection, later)

    assert [one["closed_at"] is None for one in all_of(connection)] == [False, True]


def test_what_was_told_ahead_of_time_is_told_when_it_happens_again(connection: Connection, now: datetime) -> None:
    channel(connection, now + AHEAD)
    uuid = display(connection, now)
    ahead, later = now + AHEAD + MINUTE, now + timedelta(hours=2)
    go_silent(connection, ahead, [uuid])
    decide(connection, ahead + 20 * MINUTE)
    deliver_all(connection, ahead + 20 * MINUTE)
    come_back(connection, ahead + 21 * MINUTE, [uuid])
    decide(connection, ahead + 24 * MINUTE)
    set_back(connection, now)

    go_silent(connection, later, [uuid])
    decide(connection, later + 20 * MINUTE)

    assert [phase for phase, _ in told_people(connection)] == ["opened", "recovered", "opened"]


def test_a_conversion_that_was_claimed_ahead_of_time_is_given_to_another_worker(
    connection: Connection, now: datetime
) -> None:
    conversion_id = pending(connection, now)
    claimed(connection, now + AHEAD, conversion_id)
    set_back(connection, now)

    assert conversions.sweep(connection, now + 2 * LEASE, LEASE) == [(conversion_id, 2)]


# --- people and displays at the door ---


def test_an_upload_under_way_ahead_of_time_goes_on_after_the_longest_turn(
    connection: Connection, now: datetime
) -> None:
    begun = uploads.create(connection, now + AHEAD, "a.pptx", 3, 9, "user:anna")
    turn = uploads.take_turn(connection, now + AHEAD, begun.id, 0)
    uploads.hold(connection, now + AHEAD, turn)
    set_back(connection, now)

    assert uploads.take_turn(connection, now + uploads_rules.ASSEMBLY, begun.id, 0).offset == 0
    assert uploads.find(connection, now, begun.id).expires_at == now + uploads_rules.LIFE


def test_a_sign_in_that_failed_ahead_of_time_is_held_back_no_longer_than_any_other(
    connection: Connection, now: datetime
) -> None:
    counters = (Counter("account:anna", 1),)
    attempts_store.insert_failure(connection, counters[0].bucket, now + AHEAD)
    set_back(connection, now)

    access.refuse_when_limited(connection, now + FAILURES_COUNT_FOR, counters)


def test_a_display_that_changed_its_password_ahead_of_time_may_do_so_again(now: datetime) -> None:
    apart = enrolment_rules.ROTATIONS_APART

    waits = [enrolment_rules.wait_after_rotation(at, now) for at in (now + AHEAD, now, now - apart, None)]

    assert waits == [None, apart, None, None]


# --- a bridge that is gone ---


def test_a_canary_ahead_of_time_is_no_sign_of_a_bridge(connection: Connection, now: datetime) -> None:
    hear(connection, now + AHEAD, since=2 * AHEAD)

    heard = listening(leadership_store.bridge_status(connection), now)

    assert (heard.deaf, heard.deaf_since) == (True, now)


def test_a_canary_a_moment_ahead_of_a_slow_reader_is_one(connection: Connection, now: datetime) -> None:
    hear(connection, now + seconds(20))

    assert not listening(leadership_store.bridge_status(connection), now).deaf


@pytest.mark.parametrize(
    ("last", "begins"),
    [(AHEAD, True), (-AHEAD, True), (seconds(1), False), (seconds(-1), False)],
    ids=["ahead", "long ago", "a step of the clock", "a moment ago"],
)
def test_the_listening_time_begins_anew_where_nobody_knows_how_long_nothing_came(
    connection: Connection, now: datetime, last: timedelta, *, begins: bool
) -> None:
    since = now - 2 * AHEAD
    connection.execute(sa.update(bridge_status).values(epoch=7, connected_since=since, last_commit_at=now + last))

    assert leadership_store.mark_commit(connection, now, 7, {})

    status = leadership_store.bridge_status(connection)
    assert status.connected_since == (now if begins else since)
