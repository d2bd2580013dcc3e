"""Long times in recovery: a day of silence, a scheduler that was away, the end of retention."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.commands import store as commands_store
from shared.leadership import store as leadership_store
from shared.quiet.rules import QuietNow
from shared.recovery import store
from shared.recovery.breakers import operations as breakers
from shared.recovery.evidence import operations as evidence
from shared.recovery.evidence import store as evidence_store
from shared.recovery.evidence.operations import MOST_LOOKED_AT
from shared.tables import bridge_status, client_heartbeats, clients
from shared.words.reader import english
from tests.stores.commands_world import SHUTDOWN, add_client, command, done, issue, seconds
from tests.stores.recovery_world import (
    ON,
    History,
    beat,
    breaker_decisions,
    crash,
    decisions,
    finish,
    fleet,
    hear,
    look,
    open_breakers,
    recover,
    sent,
    told,
)

pytestmark = pytest.mark.usefixtures("listening")
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def restarted_a_moment_ago(connection: Connection, at: datetime) -> None:
    hear(connection, at, since=seconds(20))


def restarted_five_minutes_ago(connection: Connection, at: datetime) -> None:
    hear(connection, at, since=5 * MINUTE)


def hears_nothing(connection: Connection, at: datetime) -> None:
    connection.execute(sa.update(bridge_status).values(connected_since=None, canary_at=at - HOUR))


Hearing = Callable[[Connection, datetime], None]
HEARINGS = (hear, restarted_a_moment_ago, restarted_five_minutes_ago, hears_nothing)


@pytest.mark.parametrize("hearing", HEARINGS)
@pytest.mark.parametrize("site", [None, "Basel"])
def test_a_breaker_stays_open_over_the_same_silence_for_however_long(
    connection: Connection, now: datetime, site: str | None, hearing: Hearing
) -> None:
    there = fleet(connection, now, 50 if site else 6)
    fleet(connection, now - 4 * MINUTE, 6, site=site)
    assert recover(connection, now).command_ids == ()

    at = now
    for _ in range(36):  # thirty hours
        at += 50 * MINUTE
        hearing(connection, at)
        beat(connection, there, at)
        assert recover(connection, at).command_ids == ()

    for day in (2, 9, 90):
        assert look(connection, at + day * DAY, there).command_ids == ()
    assert open_breakers(connection) == {site}
    assert breaker_decisions(connection) == [("breaker_open", site)]


def test_after_days_it_closes_when_enough_of_those_that_opened_it_are_heard(
    connection: Connection, now: datetime
) -> None:
    there = fleet(connection, now, 80)
    gone = fleet(connection, now - 4 * MINUTE, 20)
    recover(connection, now)

    open_since_then = []
    for at, back in (
        (now + 3 * DAY, gone[:0]),
        (now + 3 * DAY + MINUTE, gone[:1]),
        (now + 3 * DAY + 2 * MINUTE, gone[:1]),
    ):
        assert look(connection, at, there, back).command_ids == ()  # the other nineteen have been silent for days
        open_since_then.append(open_breakers(connection))

    assert open_since_then == [{None}, {None}, set()]


def test_displays_that_fall_silent_while_it_is_open_count_as_well(connection: Connection, now: datetime) -> None:
    there = fleet(connection, now, 20)
    gone = fleet(connection, now - 4 * MINUTE, 6)
    recover(connection, now)

    at = now + 2 * DAY
    beat(connection, there[:6], at - 36 * HOUR)
    look(connection, at, there[6:], gone)  # those are back, and six others fell silent a day and a half ago

    assert "6 of 26 displays are silent" in english(breakers.state(connection, ON)["why"])


def test_once_closed_the_next_opening_reckons_with_a_day_again(connection: Connection, now: datetime) -> None:
    there = fleet(connection, now, 40)
    gone = fleet(connection, now - 4 * MINUTE, 10)
    recover(connection, now)
    at = now + 2 * DAY
    for minute in (0, 1):
        look(connection, at + minute * MINUTE, there, gone[:9])
    assert open_breakers(connection) == set()

    later = at + 10 * MINUTE
    beat(connection, gone[:9], later - 4 * MINUTE)
    look(connection, later, there)
    assert open_breakers(connection) == set()  # nine of 49: the tenth has been silent for two days


@pytest.mark.parametrize("hours", [25, 24 * 30])
def test_a_silence_of_more_than_a_day_is_left_to_people_even_after_a_release(
    connection: Connection, now: datetime, hours: int
) -> None:
    there = fleet(connection, now, 20)
    gone = fleet(connection, now - 4 * MINUTE, 6)
    recover(connection, now)

    at = now + timedelta(hours=hours)
    hear(connection, at)
    beat(connection, there, at)
    assert breakers.release(connection, at, "user:anna", None) == [None]
    reports = [recover(connection, at + minute * MINUTE) for minute in (0, 1, 2)]

    assert [report.command_ids for report in reports] == [(), (), ()]
    state = told(connection, at, gone[0])
    assert (state["state"], state["until"]) == ("not_recovered", None)
    assert state["why"].startswith("The display has been silent for more than a day. A reboot would not help")
    assert decisions(connection, gone[0]) == [("none", "not_recovered")]  # once


@pytest.mark.parametrize(
    ("silent_for", "listened_for", "acts"),
    [(24 * HOUR - MINUTE, 3 * DAY, True), (24 * HOUR + MINUTE, 3 * DAY, False), (25 * HOUR, 10 * MINUTE, False)],
)
def test_a_silent_display_is_rebooted_within_its_first_day_alone(
    connection: Connection, now: datetime, silent_for: timedelta, listened_for: timedelta, acts: bool
) -> None:
    fleet(connection, now, 99)
    [client] = fleet(connection, now - silent_for, 1)
    hear(connection, now, since=listened_for)

    assert sent(connection, recover(connection, now)) == ([(client, "reboot_host")] if acts else [])
    assert told(connection, now, client)["state"] == ("in_flight" if acts else "not_recovered")


def test_those_that_nobody_can_help_take_no_places_of_those_that_can_be_helped(
    connection: Connection, now: datetime
) -> None:
    lost = fleet(connection, now - 3 * DAY, MOST_LOOKED_AT + 50)
    there = fleet(connection, now, 1000)
    [client] = fleet(connection, now - 20 * MINUTE, 1)

    first = recover(connection, now)
    for minute in (1, 2, 3):
        look(connection, now + minute * MINUTE, there)

    assert sent(connection, first) == [(client, "reboot_host")]
    bridge = leadership_store.bridge_status(connection)
    looked_at = evidence.candidates(connection, now + 3 * MINUTE, ON, bridge, {}, [*lost, client], 10, QuietNow())
    assert looked_at == [client]  # each of the others is recorded once, and then left out


@pytest.mark.parametrize("shared_days_ago", [None, 2])
def test_the_longest_unwell_that_can_be_helped_come_first_whatever_is_not_known(
    connection: Connection, now: datetime, shared_days_ago: int | None
) -> None:
    """One client was never heard and cannot be helped; the login of another was never shared."""
    shared_at = None if shared_days_ago is None else now - shared_days_ago * DAY
    never_heard = add_client(connection, now, service_failed_at=now - HOUR, service_failed_unit="player.service")
    connection.execute(sa.delete(client_heartbeats).where(client_heartbeats.c.client_uuid == never_heard))
    longest = crash(connection, now, 90, shared_login_seen_at=shared_at)
    crash(connection, now, 60)

    first = evidence_store.candidates(
        connection,
        now,
        [],
        silent_since=now - DAY,
        stale_seconds=180,
        blocked_sites=[],
        quiet=[],
        too_long=DAY,
        most=1,
    )

    assert first == [longest]


def test_a_display_that_comes_back_after_days_is_helped_at_once_when_it_crashes(
    connection: Connection, now: datetime
) -> None:
    there = fleet(connection, now, 20)
    [client] = fleet(connection, now - 2 * DAY, 1)
    recover(connection, now)
    at = now + HOUR
    hear(connection, at)
    beat(connection, there, at)
    crashed = {"process_status": "crashed", "process_status_since": at - MINUTE, "status": "crashed"}
    connection.execute(sa.update(clients).where(clients.c.uuid == client).values(**crashed))
    beat(connection, client, at)
    for _ in range(MOST_LOOKED_AT):  # as many clients that cannot be helped, unwell for longer
        crash(connection, at, 3600, capabilities=["shutdown_host"])
    recover(connection, at)  # records it of the others once

    report = recover(connection, at + seconds(1))

    acted = {row.client_uuid for row in store.events_page(connection, client, 10, None) if row.command_id}
    assert acted == {client}
    assert len(report.command_ids) <= 10


@pytest.mark.parametrize(("away", "apart", "acts"), [(6, 0, 0), (10, 0, 0), (60, 0, 0), (20 * 60, 0, 0), (600, 19, 10)])
def test_who_fell_silent_at_once_while_no_tick_ran_is_a_mass_and_one_by_one_is_none(
    connection: Connection, now: datetime, away: int, apart: int, acts: int
) -> None:
    """No tick ran for `away` minutes after the first display fell silent; the others did so `apart` minutes apart."""
    there = fleet(connection, now, 70)
    gone = fleet(connection, now, 30)
    recover(connection, now)

    for number, one in enumerate(gone):
        beat(connection, one, now + (5 + number * apart) * MINUTE)

    assert len(look(connection, now + (5 + away) * MINUTE, there).command_ids) == acts
    assert open_breakers(connection) == (set() if acts else {None})


def test_a_clock_ahead_at_the_last_look_makes_no_mass_of_single_silences(connection: Connection, now: datetime) -> None:
    there = fleet(connection, now, 70)
    recover(connection, now + DAY)
    for number in range(20):
        fleet(connection, now - (30 + number * 15) * MINUTE, 1)

    assert len(look(connection, now, there).command_ids) == 10
    assert open_breakers(connection) == set()


# --- what is kept, and for how long ---


def test_a_failure_that_a_restart_mended_stays_mended_when_the_history_is_dropped(
    connection: Connection, now: datetime
) -> None:
    [client] = fleet(connection, now, 1)
    failed = {"service_failed_at": now - seconds(5), "service_failed_unit": "player.service"}
    connection.execute(sa.update(clients).where(clients.c.uuid == client).values(**failed))
    finish(connection, now + seconds(1), recover(connection, now))

    at = now + 366 * DAY
    store.drop_history(connection, at - DAY)
    commands_store.drop_history(connection, at - DAY)

    assert look(connection, at, client).command_ids == ()
    assert "acknowledge the failure" in told(connection, at, client)["why"]


def test_a_display_that_was_shut_down_on_purpose_is_held_when_the_history_is_dropped(
    connection: Connection, now: datetime
) -> None:
    fleet(connection, now, 20)
    [gone, back] = fleet(connection, now - MINUTE, 2)
    for client in (gone, back):
        done(connection, now, client, issue(connection, now, client, SHUTDOWN))
    beat(connection, back, now + HOUR)

    assert commands_store.drop_history(connection, now + DAY) == 1  # of the display that is on again

    at = now + 2 * DAY
    hear(connection, at)
    state = told(connection, at, gone)
    assert (state["state"], state["why"][:40]) == ("held", "The display was shut down on purpose; it")


def test_a_command_that_is_open_outlives_every_retention(connection: Connection, now: datetime) -> None:
    [client] = fleet(connection, now, 1)
    name = issue(connection, now, client)

    assert commands_store.drop_history(connection, now + 400 * DAY) == 0
    assert command(connection, name)["state"] == "queued"


def test_a_suspension_and_its_words_outlive_the_history(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    history = History(connection, now, every=10)
    history.ticks(50, client)
    store.drop_history(connection, now + 400 * DAY)
    commands_store.drop_history(connection, now + 400 * DAY)

    history.at = now + 400 * DAY
    history.ticks(20, client)

    state = history.told(client)
    assert (state["state"], len(history.acts)) == ("suspended", 4)
    assert "2 restarts and 2 reboots did not help, the first of them 400 days ago" in state["why"]
